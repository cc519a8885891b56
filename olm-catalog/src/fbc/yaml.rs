//! Writes YAML that is read as what was written, by v0 as well: what YAML 1.1 would take for something
//! else than a text is quoted.

use std::fmt::Write;

use olm_types::document::plain;
use serde_json::{Map, Value};

/// Characters that mean something at the beginning of a plain scalar, or may.
const INDICATORS: &[char] = &[
    '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
    '=', '<',
];

/// A document, ending in a line break.
pub(crate) fn write_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(fields) if !fields.is_empty() => write_map(&mut out, fields, 0, false),
        Value::Array(items) if !items.is_empty() => write_list(&mut out, items, 0),
        other => {
            write_scalar(&mut out, other, 0);
            out.push('\n');
        }
    }
    out
}

/// The entries of a map; the first one stands in the line that was begun already, if there is one.
fn write_map(out: &mut String, fields: &Map<String, Value>, indent: usize, mut begun: bool) {
    for (name, value) in fields {
        if !std::mem::take(&mut begun) {
            pad(out, indent);
        }
        write_text(out, name);
        out.push(':');
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                out.push('\n');
                write_map(out, fields, indent.saturating_add(2), false);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                write_list(out, items, indent);
            }
            other => {
                out.push(' ');
                write_scalar(out, other, indent);
                out.push('\n');
            }
        }
    }
}

fn write_list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        pad(out, indent);
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                out.push_str("- ");
                write_map(out, fields, indent.saturating_add(2), true);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push_str("-\n");
                write_list(out, items, indent.saturating_add(2));
            }
            other => {
                out.push_str("- ");
                write_scalar(out, other, indent);
                out.push('\n');
            }
        }
    }
}

/// A value in one line, or a text of several lines that are further in than `indent`.
fn write_scalar(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) if is_block(text) => write_block(out, text, indent.saturating_add(2)),
        Value::String(text) => write_text(out, text),
        other => out.push_str(&other.to_string()),
    }
}

fn write_text(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else if text.chars().all(is_printable) {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    } else {
        for letter in Value::from(text).to_string().chars() {
            match letter {
                _ if is_printable(letter) => out.push(letter),
                // Those that are left are in the first plane, and writing to a String cannot fail.
                _ => {
                    let _ = write!(out, "\\u{:04x}", u32::from(letter));
                }
            }
        }
    }
}

/// Whether a text that stands by itself is read as that text.
fn is_plain(text: &str) -> bool {
    let is_text = matches!(plain(text), Ok(Value::String(_)));
    let hides = text.contains(": ") || text.contains(" #") || text.ends_with([':', ' ']);
    let begins = text.starts_with(INDICATORS) || text.starts_with([' ', '.']);
    is_text && !hides && !begins && text.chars().all(is_printable)
}

/// Whether a text of several lines can stand as it is. The indentation is that of the first line.
fn is_block(text: &str) -> bool {
    let printable = text.chars().all(|letter| is_printable(letter) || letter == '\n');
    let ends = text.ends_with("\n\n") || text.ends_with(' ');
    text.contains('\n') && !text.starts_with(['\n', ' ']) && printable && !ends
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
    }
}

/// Neither a control character nor a line break of Unicode nor a mark of byte order.
fn is_printable(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..)
        && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use olm_types::document::{self, Budget, Meter};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        let mut meter = Meter::in_all(Budget::OBJECT);
        document::yaml(text, &mut meter).map_err(|error| error.to_string())
    }

    #[test]
    fn what_would_be_something_else_is_quoted() {
        let value = json!({
            "a": ["yes", "on", "0777", "1_000", "~", "", "2001-01-02", "plain text", "it's", "x: y"],
            "no": {"list": [[1, 2], {"b": 1.5, "c": []}], "none": null},
            "text": "one\n\n  two\n",
            "last": "one\ntwo",
        });
        let expected = "a:\n- 'yes'\n- 'on'\n- '0777'\n- '1_000'\n- '~'\n- ''\n- 2001-01-02\n\
            - plain text\n- it's\n- 'x: y'\nlast: |-\n  one\n  two\n'no':\n  list:\n  -\n    - 1\n    - 2\n\
            \x20 - b: 1.5\n    c: []\n  none: null\ntext: |\n  one\n\n    two\n";
        assert_eq!(write_yaml(&value), expected);
        assert_eq!(read(expected), Ok(value));
    }

    fn texts() -> impl Strategy<Value = String> {
        let words = [
            "yes", "N", "null", "0x1F", "1e3", "-", "a", " ", "\n", ":", "#", "'", "\"", "<<", "é",
            "\u{2028}", "\t", "|", "---", ".",
        ];
        prop::collection::vec(prop::sample::select(words.to_vec()), 0..5)
            .prop_map(|all| all.concat())
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            texts().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(json!(null)),
            Just(json!(1.5)),
            Just(json!({})),
            Just(json!([]))
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(texts(), inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_written_is_read(value in values()) {
            let text = write_yaml(&value);
            prop_assert_eq!(read(&text), Ok(value), "{}", text);
        }
    }
}
