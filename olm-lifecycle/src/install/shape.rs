//! Walking through opaque JSON with errors that name the field.

use serde_json::{Map, Value};

/// A field that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: must be {expected}, not {found}")]
pub struct ShapeError {
    /// Where the field is.
    pub path: String,
    /// What it should be.
    pub expected: &'static str,
    /// What it is.
    pub found: &'static str,
}

/// The value as an object.
pub fn as_object<'v>(
    value: &'v mut Value,
    path: &str,
) -> Result<&'v mut Map<String, Value>, ShapeError> {
    let found = type_name(value);
    value.as_object_mut().ok_or_else(|| mismatch(path, "an object", found))
}

/// The value as a list.
pub fn as_list<'v>(value: &'v mut Value, path: &str) -> Result<&'v mut Vec<Value>, ShapeError> {
    let found = type_name(value);
    value.as_array_mut().ok_or_else(|| mismatch(path, "a list", found))
}

/// The object in `field`; an absent one is added empty.
pub(crate) fn object_in<'v>(
    parent: &'v mut Map<String, Value>,
    field: &str,
    path: &str,
) -> Result<&'v mut Map<String, Value>, ShapeError> {
    as_object(present(parent, field, || Value::Object(Map::new())), &format!("{path}.{field}"))
}

/// The list in `field`; an absent one is added empty.
pub fn list_in<'v>(
    parent: &'v mut Map<String, Value>,
    field: &str,
    path: &str,
) -> Result<&'v mut Vec<Value>, ShapeError> {
    as_list(present(parent, field, || Value::Array(Vec::new())), &format!("{path}.{field}"))
}

/// The value of `field`; an absent or null one is replaced by the default.
fn present<'v>(
    parent: &'v mut Map<String, Value>,
    field: &str,
    default: impl Fn() -> Value,
) -> &'v mut Value {
    let value = parent.entry(field).or_insert_with(&default);
    if value.is_null() {
        *value = default();
    }
    value
}

fn mismatch(path: &str, expected: &'static str, found: &'static str) -> ShapeError {
    ShapeError { path: path.to_owned(), expected, found }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
