//! Whether an object still is what was asked for (the comparison that v0 decides by).

use olm_types::unset::is_unset;
use serde::Serialize;
use serde_json::Value;

/// Whether everything that `wanted` says is so in `found`. What `wanted` leaves empty may be
/// anything, and lists of `found` may go on longer.
pub(crate) fn derives<T: Serialize>(wanted: &T, found: &T) -> bool {
    let values = serde_json::to_value(wanted).ok().zip(serde_json::to_value(found).ok());
    values.is_some_and(|(wanted, found)| holds(&wanted, &found))
}

fn holds(wanted: &Value, found: &Value) -> bool {
    if is_unset(wanted) {
        return true;
    }
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().all(|(key, value)| match found.get(key) {
                Some(found) => holds(value, found),
                None => is_unset(value),
            })
        }
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() <= found.len()
                && wanted.iter().zip(found).all(|(wanted, found)| holds(wanted, found))
        }
        _ => wanted == found,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::defaults_were_added(json!({"a": 1, "b": {}}), json!({"a": 1, "b": {"c": 2}, "d": 3}), true)]
    #[case::a_list_got_longer(json!({"a": [1]}), json!({"a": [1, 2]}), true)]
    #[case::unset(json!({"a": "", "b": [], "c": null}), json!({"a": "x"}), true)]
    #[case::another_value(json!({"a": "x"}), json!({"a": "y"}), false)]
    #[case::gone(json!({"a": "x"}), json!({}), false)]
    #[case::a_list_got_shorter(json!({"a": [1, 2]}), json!({"a": [1]}), false)]
    #[case::order(json!([{"n": "a"}, {"n": "b"}]), json!([{"n": "b"}, {"n": "a"}]), false)]
    #[case::zero_is_a_value(json!({"a": 0}), json!({"a": 1}), false)]
    #[case::another_type(json!({"a": [1]}), json!({"a": {"b": 1}}), false)]
    fn comparisons(#[case] wanted: Value, #[case] found: Value, #[case] expected: bool) {
        assert_eq!(derives(&wanted, &found), expected);
    }
}
