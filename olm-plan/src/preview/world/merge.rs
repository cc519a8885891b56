//! JSON merge patches (RFC 7386), as an API server applies them.

use serde_json::{Value, json};

/// Merges a patch into an object.
pub(super) fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    let Some(object) = object.as_object_mut() else { return };
    for (name, value) in fields {
        match value {
            Value::Null => drop(object.remove(name)),
            value => merge(object.entry(name.clone()).or_insert(Value::Null), value),
        }
    }
}
