//! Blobs as they are, with the place that they have in rendered output.

use std::path::Path;

use serde_json::Value;

use super::blob::{Blob, Located, Meta};
use super::error::CatalogError;
use super::fields::FieldError;
use super::read::ReadLimits;
use super::read::{Refusal, read_documents};

/// Properties that come after all others.
pub(crate) const MANIFESTS: [&str; 2] = ["olm.bundle.object", "olm.csv.metadata"];

/// A blob that may be rendered together with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Where it belongs.
    pub key: RenderKey,
    /// The whole object.
    pub value: Value,
}

/// Order of rendered blobs. Blobs of equal keys stay in the order in which they were read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RenderKey {
    /// Blobs without a package come last.
    loose: bool,
    package: String,
    rank: u8,
    /// Name of a channel or bundle, schema of a blob that has no meaning here.
    name: String,
}

/// The blobs in the files below `root`, or in the file `root`, in the order of paths and documents.
/// They need not make a valid catalog.
///
/// # Errors
/// Something cannot be read or is no blob.
pub fn render(root: &Path, limits: &ReadLimits) -> Result<Vec<Rendered>, CatalogError> {
    let mut blobs = Vec::new();
    read_documents(root, limits, &mut |Located { item: value, .. }| {
        blobs.push(Rendered::new(value).map_err(Refusal::Blob)?);
        Ok(())
    })?;
    Ok(blobs)
}

impl Rendered {
    /// A blob with its place. In bundles, manifests and what stands for them come last among the
    /// properties, and related images are sorted, as `opm` has it.
    ///
    /// # Errors
    /// It is no blob.
    pub fn new(mut value: Value) -> Result<Self, FieldError> {
        Blob::from_value(value.clone())?;
        let heading = Meta::heading(&value)?;
        if heading.schema == "olm.bundle" {
            let list = |value: &mut Value, name| match value.get_mut(name) {
                Some(Value::Array(items)) => std::mem::take(items),
                _ => Vec::new(),
            };
            let mut properties = list(&mut value, "properties");
            properties.sort_by_key(|property| MANIFESTS.contains(&text(property, "type")));
            let mut images = list(&mut value, "relatedImages");
            images.sort_by(|left, right| text(left, "image").cmp(text(right, "image")));
            put(&mut value, "properties", properties);
            put(&mut value, "relatedImages", images);
        }
        Ok(Self { key: RenderKey::of(heading), value })
    }
}

/// Puts a list back to where it was taken from.
fn put(blob: &mut Value, name: &str, items: Vec<Value>) {
    if let Some(Value::Array(list)) = blob.get_mut(name) {
        *list = items;
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

impl RenderKey {
    fn of(heading: Meta) -> Self {
        let Meta { schema, package, name, .. } = heading;
        let (rank, package, name) = match schema.as_str() {
            "olm.package" => (0, name, String::new()),
            "olm.channel" => (1, package, name),
            "olm.bundle" => (2, package, name),
            "olm.deprecations" => (4, package, String::new()),
            _ => (3, package, schema),
        };
        Self { loose: package.is_empty(), package, rank, name }
    }
}
