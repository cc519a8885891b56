//! Fields of JSON that say nothing.

use serde_json::Value;

/// Whether a field is the same as an absent one: null, an empty text, list or object. `false` and `0` are not, as
/// they say something where the default is another.
#[must_use]
pub fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    fn nothing_says_nothing(#[values(json!(null), json!(""), json!([]), json!({}))] value: Value) {
        assert!(is_unset(&value), "{value}");
    }

    #[rstest]
    fn zero_says_something(
        #[values(json!(false), json!(0), json!(" "), json!([null]), json!({"a": null}))]
        value: Value,
    ) {
        assert!(!is_unset(&value), "{value}");
    }
}
