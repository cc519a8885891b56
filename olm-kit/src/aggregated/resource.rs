//! What is served.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The kind of the served objects. They live in namespaces.
#[derive(Clone, Debug)]
pub struct Kind {
    /// API group.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// Kind of an object.
    pub kind: &'static str,
    /// Resource, in URLs.
    pub plural: &'static str,
    /// Name of one.
    pub singular: &'static str,
    /// Subresources that can be read, with the media types that they come in.
    pub subresources: BTreeMap<&'static str, &'static [&'static str]>,
    /// Columns of a table, behind the name.
    pub columns: Vec<Column>,
    /// OpenAPI schema of an object, in which `$ref` leads to `#/components/schemas/…`.
    pub schema: Value,
}

impl Kind {
    /// `group/version`.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
}

/// One object.
pub trait Item: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its namespace.
    fn namespace(&self) -> &str;

    /// Its labels.
    fn labels(&self) -> &BTreeMap<String, String>;

    /// Its metadata, for tables.
    fn metadata(&self) -> Value;

    /// Texts of the columns.
    fn cells(&self) -> Vec<String>;

    /// The whole object as JSON.
    ///
    /// # Errors
    /// A text for the caller, when the object cannot be given.
    fn object(&self) -> Result<Box<RawValue>, String>;
}

/// A part of an object that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// Its media type.
    pub media_type: String,
    /// Which version of it this is, quoted; may be empty.
    pub etag: String,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// Where objects come from. Responder at once: what is served is at hand.
pub trait Resource: Send + Sync + 'static {
    /// What they are.
    fn kind(&self) -> &Kind;

    /// The objects of a namespace, or all of them, in a fixed order.
    fn list(&self, namespace: Option<&str>) -> Vec<Box<dyn Item>>;

    /// One object.
    fn get(&self, namespace: &str, name: &str) -> Option<Box<dyn Item>>;

    /// A part of an object; nothing when there is no such object.
    fn subresource(&self, namespace: &str, name: &str, part: &str) -> Option<Subresource>;
}
