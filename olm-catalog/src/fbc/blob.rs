//! Blobs: the objects that files of a catalog hold, each with a `schema`.
//!
//! Reading a blob checks types of fields and nothing else; whether the blobs fit together is
//! validation's question.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::fields::{FieldError, Fields};

/// Where a blob was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// File, relative to the root of the catalog.
    pub file: Arc<Path>,
    /// Number of the document in the file, from 1.
    pub document: usize,
}

/// Something with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// Where it was found.
    pub origin: Origin,
    /// What was found.
    pub item: T,
}

/// One object of a catalog.
#[derive(Clone, Debug, PartialEq)]
pub enum Blob {
    /// `olm.package`.
    Package(PackageBlob),
    /// `olm.channel`.
    Channel(ChannelBlob),
    /// `olm.bundle`.
    Bundle(BundleBlob),
    /// `olm.deprecations`.
    Deprecations(DeprecationsBlob),
    /// Any other schema; kept as it is.
    Other(Meta),
}

/// `olm.package`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageBlob {
    /// Name.
    pub name: String,
    /// Channel of subscriptions that name none.
    pub default_channel: String,
    /// Icon for user interfaces.
    pub icon: Option<Icon>,
    /// Text for people.
    pub description: String,
}

/// An icon; the picture itself is not looked into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Icon {
    /// Base64 text.
    pub base64data: String,
    /// Media type, for example `image/svg+xml`.
    pub mediatype: String,
}

/// `olm.channel`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelBlob {
    /// Package it belongs to.
    pub package: String,
    /// Name.
    pub name: String,
    /// Bundles of the channel, as edges of its upgrade graph.
    pub entries: Vec<ChannelEntry>,
}

/// A bundle in a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelEntry {
    /// Name of the bundle.
    pub name: String,
    /// Bundle that it replaces; may be empty or not in the channel.
    pub replaces: String,
    /// Bundles that it skips.
    pub skips: Vec<String>,
    /// Versions that may be upgraded to it directly; may be empty.
    pub skip_range: String,
}

/// `olm.bundle`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleBlob {
    /// Package it belongs to.
    pub package: String,
    /// Name.
    pub name: String,
    /// Bundle image; may be empty when the manifests are among the properties.
    pub image: String,
    /// Typed metadata.
    pub properties: Vec<RawProperty>,
    /// Images that the operator uses.
    pub related_images: Vec<RelatedImage>,
}

/// A property as the catalog holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawProperty {
    /// Type, for example `olm.gvk`.
    pub kind: String,
    /// Any JSON value.
    pub value: Value,
}

/// An image that an operator uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelatedImage {
    /// What it is for; may be empty.
    pub name: String,
    /// Image reference.
    pub image: String,
}

/// `olm.deprecations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeprecationsBlob {
    /// Package that it is about.
    pub package: String,
    /// What is deprecated.
    pub items: Vec<DeprecatedItem>,
}

/// Something deprecated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeprecatedItem {
    /// `olm.package`, `olm.channel` or `olm.bundle`.
    pub schema: String,
    /// Name of the channel or bundle; empty for a package.
    pub name: String,
    /// Text for people.
    pub message: String,
}

/// A blob of a schema that has no meaning here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Its schema.
    pub schema: String,
    /// Package that it belongs to; may be empty.
    pub package: String,
    /// Name; may be empty.
    pub name: String,
    /// The whole object.
    pub value: Value,
}

impl Blob {
    /// Reads a blob.
    ///
    /// # Errors
    /// It is no object, has no schema, or a field has the wrong type.
    pub fn from_value(value: Value) -> Result<Self, FieldError> {
        let heading = Meta::heading(&value)?;
        let fields = |value| Fields::root(value);
        Ok(match heading.schema.as_str() {
            "olm.package" => Self::Package(PackageBlob::from_fields(fields(value)?)?),
            "olm.channel" => Self::Channel(ChannelBlob::from_fields(fields(value)?)?),
            "olm.bundle" => Self::Bundle(BundleBlob::from_fields(fields(value)?)?),
            "olm.deprecations" => {
                Self::Deprecations(DeprecationsBlob::from_fields(fields(value)?)?)
            }
            _ => Self::Other(Meta { value, ..heading }),
        })
    }
}

impl Meta {
    /// `schema`, `package` and `name` of any blob, without its content.
    ///
    /// # Errors
    /// It is no object, has no schema, or one of the three is no text or given twice.
    pub fn heading(value: &Value) -> Result<Self, FieldError> {
        let mut fields = Fields::heading(value)?;
        let schema = fields.text("schema")?;
        if schema.is_empty() {
            return Err(FieldError::no_schema(value));
        }
        let (package, name) = (fields.text("package")?, fields.text("name")?);
        Ok(Self { schema, package, name, value: Value::Null })
    }
}

impl PackageBlob {
    fn from_fields(mut fields: Fields) -> Result<Self, FieldError> {
        Ok(Self {
            name: fields.text("name")?,
            default_channel: fields.text("defaultChannel")?,
            icon: fields.object("icon", |mut icon| {
                Ok(Icon {
                    base64data: icon.base64("base64data")?,
                    mediatype: icon.text("mediatype")?,
                })
            })?,
            description: fields.text("description")?,
        })
    }
}

impl ChannelBlob {
    fn from_fields(mut fields: Fields) -> Result<Self, FieldError> {
        Ok(Self {
            package: fields.text("package")?,
            name: fields.text("name")?,
            entries: fields.objects("entries", |mut entry| {
                Ok(ChannelEntry {
                    name: entry.text("name")?,
                    replaces: entry.text("replaces")?,
                    skips: entry.texts("skips")?,
                    skip_range: entry.text("skipRange")?,
                })
            })?,
        })
    }
}

impl BundleBlob {
    fn from_fields(mut fields: Fields) -> Result<Self, FieldError> {
        Ok(Self {
            package: fields.text("package")?,
            name: fields.text("name")?,
            image: fields.text("image")?,
            properties: fields.objects("properties", |mut property| {
                let kind = property.text("type")?;
                if kind.is_empty() {
                    return Err(property.missing("type"));
                }
                Ok(RawProperty { kind, value: property.required("value")? })
            })?,
            related_images: fields.objects("relatedImages", |mut image| {
                Ok(RelatedImage { name: image.text("name")?, image: image.text("image")? })
            })?,
        })
    }
}

impl DeprecationsBlob {
    fn from_fields(mut fields: Fields) -> Result<Self, FieldError> {
        Ok(Self {
            package: fields.text("package")?,
            items: fields.objects("entries", |mut item| {
                let reference = item.object("reference", |mut reference| {
                    Ok((reference.text("schema")?, reference.text("name")?))
                })?;
                let (schema, name) = reference.unwrap_or_default();
                Ok(DeprecatedItem { schema, name, message: item.text("message")? })
            })?,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file.display(), self.document)
    }
}
