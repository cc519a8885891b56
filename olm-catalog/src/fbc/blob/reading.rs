//! From the fields of an object to the blob that its schema names.

use serde_json::Value;

use super::{
    Blob, BundleBlob, ChannelBlob, ChannelEntry, DeprecatedItem, DeprecationsBlob, Icon, Meta,
    PackageBlob, RawProperty, RelatedImage,
};
use crate::fbc::fields::{FieldError, Fields};

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
