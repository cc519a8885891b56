//! Manifests as text, the way they are stored in the steps of an InstallPlan.
//!
//! The text is stable: keys of free-form objects are sorted, the characters `<`, `>`, `&`, U+2028
//! and U+2029 are escaped as Go's encoder does it, and a newline ends it. Equal objects therefore
//! give equal plans, byte for byte, and equal to those that v0 writes.

use serde::Serialize;
use serde_json::{Map, Value};

/// Manifest text of a free-form object: keys sorted at every level.
pub(crate) fn free_form(object: &Value) -> String {
    line(&sorted(object).to_string())
}

/// Manifest text of a typed shape: fields in the order of its declaration.
pub(crate) fn shaped<T: Serialize>(shape: &T) -> Result<String, serde_json::Error> {
    Ok(line(&serde_json::to_string(shape)?))
}

/// JSON text of a typed shape as Go encodes it, without the final newline: what hashes are made of.
pub fn compact<T: Serialize>(shape: &T) -> Result<String, serde_json::Error> {
    Ok(escaped(&serde_json::to_string(shape)?))
}

fn line(json: &str) -> String {
    let mut text = escaped(json);
    text.push('\n');
    text
}

/// In JSON text these characters occur only inside strings, so replacing them is safe.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        match character {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

/// Rebuilds objects in key order, whatever order the map type of this build keeps.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let fields = entries.into_iter().map(|(key, value)| (key.clone(), sorted(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_html_is_escaped() {
        let object = json!({"b": "<a> & \u{2028}", "a": [{"d": 1, "c": null}]});
        assert_eq!(
            free_form(&object),
            "{\"a\":[{\"c\":null,\"d\":1}],\"b\":\"\\u003ca\\u003e \\u0026 \\u2028\"}\n"
        );
    }
}
