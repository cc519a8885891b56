//! Strings and ready-made JSON as Go writes them, with HTML characters escaped.

use std::fmt::Write;

/// Appends a JSON string.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => write_escape(out, c),
            c => write_plain(out, c),
        }
    }
    out.push('"');
}

/// Appends valid JSON text without white space between its tokens.
pub(crate) fn write_compact(out: &mut String, json: &str) {
    compact(json).chars().for_each(|c| write_plain(out, c));
}

/// Valid JSON text without white space between its tokens; nothing else changes.
pub(crate) fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|c| {
            let keep = in_string || !matches!(c, ' ' | '\t' | '\n' | '\r');
            in_string ^= *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            keep
        })
        .collect()
}

/// Characters that HTML or JavaScript would misread are escaped.
fn write_plain(out: &mut String, c: char) {
    match c {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => write_escape(out, c),
        c => out.push(c),
    }
}

fn write_escape(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", r#""""#)]
    #[case("<a&b>", r#""\u003ca\u0026b\u003e""#)]
    #[case("\u{2028}\u{2029}é😀", "\"\\u2028\\u2029é😀\"")]
    #[case(
        "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}",
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}\""
    )]
    fn strings(#[case] text: &str, #[case] json: &str) {
        let mut out = String::new();
        write_string(&mut out, text);
        assert_eq!(out, json);
    }

    #[rstest]
    #[case("{ \"a b\" : [ 1 ,\n\t2 ] }", r#"{"a b":[1,2]}"#)]
    #[case(r#"{"a\\": "x \" y"}"#, r#"{"a\\":"x \" y"}"#)]
    #[case(r#"">=1 <2""#, r#""\u003e=1 \u003c2""#)]
    fn compact_text(#[case] json: &str, #[case] compact: &str) {
        let mut out = String::new();
        write_compact(&mut out, json);
        assert_eq!(out, compact);
    }
}
