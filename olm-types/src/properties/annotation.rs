//! The annotation `operatorframework.io/properties` on CSVs: the properties that a bundle had in
//! its catalog, as `{"properties":[{"type":…,"value":…},…]}`.

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::bundle::Property;
use crate::document::{Budget, DocumentError, json_as};
use crate::hash::go_json::{compact, write_compact, write_string};

/// Why properties and annotation text do not convert.
#[derive(Debug, Error)]
pub enum AnnotationError {
    /// The value of a property is not JSON.
    #[error("value of property {kind:?} is not JSON: {source}")]
    Value {
        /// Type of the property.
        kind: String,
        /// What the JSON reader says.
        source: DocumentError,
    },
    /// The annotation is not what [`print()`] makes.
    #[error(
        "failed to unmarshal properties annotation: {0}: it must be \
         {{\"properties\":[{{\"type\":\"…\",\"value\":…}}]}}"
    )]
    Text(#[source] DocumentError),
}

/// The annotation text of properties, in their order: byte for byte what Go writes. No properties
/// give `{}`.
///
/// # Errors
/// When a value is not JSON.
pub fn print(properties: &[Property]) -> Result<String, AnnotationError> {
    if properties.is_empty() {
        return Ok("{}".to_owned());
    }
    let mut out = String::from(r#"{"properties":["#);
    for (index, property) in properties.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        print_property(&mut out, property)?;
    }
    out.push_str("]}");
    Ok(out)
}

/// Reads annotation text. Values are compact JSON texts.
///
/// # Errors
/// When the text is not JSON of the right form.
pub fn parse(text: &str) -> Result<Vec<Property>, AnnotationError> {
    let annotation: Annotation<'_> =
        json_as(text, &Budget::PROPERTY).map_err(AnnotationError::Text)?;
    Ok(annotation.properties.unwrap_or_default().iter().map(Entry::property).collect())
}

fn print_property(out: &mut String, property: &Property) -> Result<(), AnnotationError> {
    let value: &RawValue = json_as(&*property.value, &Budget::PROPERTY)
        .map_err(|source| AnnotationError::Value { kind: property.kind.to_string(), source })?;
    out.push_str(r#"{"type":"#);
    write_string(out, &property.kind);
    out.push_str(r#","value":"#);
    write_compact(out, value.get());
    out.push('}');
    Ok(())
}

#[derive(Deserialize)]
struct Annotation<'a> {
    #[serde(borrow, default)]
    properties: Option<Vec<Entry<'a>>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow)]
    value: &'a RawValue,
}

impl Entry<'_> {
    fn property(&self) -> Property {
        Property { kind: self.kind.as_str().into(), value: compact(self.value.get()).into() }
    }
}
