//! JSON objects read as Go's decoder reads them when unknown members are forbidden.

use serde_json::{Map, Value};

use super::ConstraintError;

/// The members of a JSON object, each of them known by name.
pub(super) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// The members of `value`, which must be an object with no other members than `allowed`.
    pub(super) fn new(
        value: &'a Value,
        what: &'static str,
        allowed: &[&str],
    ) -> Result<Self, ConstraintError> {
        let object =
            value.as_object().ok_or_else(|| ConstraintError::mismatch(what, "an object", value))?;
        match object.keys().find(|key| !allowed.contains(&key.as_str())) {
            Some(key) => Err(ConstraintError::UnknownField(key.clone())),
            None => Ok(Self(object)),
        }
    }

    /// A member; `null` is the same as none.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text member; empty when absent.
    pub(super) fn text(&self, name: &'static str) -> Result<String, ConstraintError> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(ConstraintError::mismatch(name, "a string", other)),
        }
    }

    /// A list member; empty when absent.
    pub(super) fn list(&self, name: &'static str) -> Result<&'a [Value], ConstraintError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(ConstraintError::mismatch(name, "a list", other)),
        }
    }
}
