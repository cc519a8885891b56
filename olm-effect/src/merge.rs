//! JSON merge patches (RFC 7386), as an API server applies them.

use serde_json::{Value, json};

/// Applies a merge patch to an object.
///
/// ```
/// use serde_json::json;
///
/// let mut object = json!({"kind": "Secret", "data": {"a": "MQ==", "b": "Mg=="}});
/// olm_effect::apply_merge_patch(&mut object, &json!({"data": {"a": null, "c": "Mw=="}}));
/// assert_eq!(object, json!({"kind": "Secret", "data": {"b": "Mg==", "c": "Mw=="}}));
/// ```
pub fn apply_merge_patch(object: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else { return object.clone_from(patch) };
    if !object.is_object() {
        *object = json!({});
    }
    let Some(object) = object.as_object_mut() else { return };
    for (name, value) in fields {
        match value {
            Value::Null => drop(object.remove(name)),
            value => apply_merge_patch(object.entry(name.clone()).or_insert(Value::Null), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of the appendix of RFC 7386.
    #[test]
    fn patches_are_applied_as_the_standard_says() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (mut object, patch, expected) in cases {
            apply_merge_patch(&mut object, &patch);
            assert_eq!(object, expected, "{patch}");
        }
    }
}
