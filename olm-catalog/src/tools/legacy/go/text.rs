//! JSON texts as Go writes them.

use std::fmt::Write;

use serde_json::{Number, Value};

/// The text of a value: fields in the order of their names, no white space, and letters escaped that
/// HTML or JavaScript would misread.
pub(in crate::tools::legacy) fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// A valid JSON text without white space between its tokens, and with the same letters escaped.
pub(in crate::tools::legacy) fn compact(json: &str) -> String {
    let (mut out, mut in_text, mut escaped) = (String::new(), false, false);
    for letter in json.chars() {
        let is_space = matches!(letter, ' ' | '\t' | '\n' | '\r');
        in_text ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escape(&mut out, letter),
            _ if is_space && !in_text => {}
            _ => out.push(letter),
        }
    }
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                out.push(if place == 0 { '[' } else { ',' });
                write_value(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            for (place, (name, value)) in fields.iter().enumerate() {
                out.push(if place == 0 { '{' } else { ',' });
                write_string(out, name);
                out.push(':');
                write_value(out, value);
            }
            out.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
    }
}

/// Go writes exponents only where numbers are very large or very small, and with a sign.
fn number_text(number: &Number) -> String {
    // Integers are signed; what is larger is a float.
    let Some(float) = number.as_f64().filter(|_| !number.is_i64()) else {
        return number.to_string();
    };
    if float == 0.0 || (1e-6..1e21).contains(&float.abs()) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => text,
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escape(out, letter),
            _ if letter < ' ' => escape(out, letter),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, letter: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(letter));
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"b": [1, []], "a": {}}), r#"{"a":{},"b":[1,[]]}"#)]
    #[case(json!("<&>\u{2028}\u{1}é\n"), r#""\u003c\u0026\u003e\u2028\u0001é\n""#)]
    #[case(json!([u64::MAX, i64::MIN]), "[18446744073709552000,-9223372036854775808]")]
    #[case(json!([1.5, 1e16, 1e21, 1.5e-7, -0.25]), "[1.5,10000000000000000,1e+21,1.5e-7,-0.25]")]
    fn texts(#[case] value: Value, #[case] expected: &str) {
        assert_eq!(text(&value), expected);
    }
}
