//! Objects as v0 takes them in and gives them out again: it decodes each into a type of Go and
//! encodes that. Names of fields are read without regard to case, what the type does not have is
//! dropped, what is missing and has no `omitempty` gets its zero value, and a value of another type
//! is an error.

mod decode;
mod text;
mod types;

use serde_json::{Map, Value};

pub(super) use text::{compact, text};

/// A CRD as v0's type for `apiextensions.k8s.io/v1beta1` has it, and what it would drop of one in
/// `v1` that is needed to create it: webhooks of conversions and the paths of printer columns.
///
/// # Errors
/// A field has another type.
pub(super) fn crd(value: &Value) -> Result<Value, String> {
    decode::decode("Crd", value)
}

/// A CSV: type, metadata and `spec`, of which only the latter is kept as it is.
///
/// # Errors
/// A field of the metadata has another type, or there is no object.
pub(super) fn csv(value: &Value) -> Result<Value, String> {
    let mut csv = match decode::decode("Csv", value)? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    csv.insert("spec".to_owned(), value.get("spec").cloned().unwrap_or_default());
    Ok(Value::Object(csv))
}

/// A value of one of the types of [`types`].
///
/// # Errors
/// A field has another type.
pub(super) fn typed(name: &'static str, value: &Value) -> Result<Value, String> {
    decode::decode(name, value)
}
