//! The same texts as in v0's own table of what scalars mean, and what holds them together.

use rstest::rstest;
use serde_json::json;

use super::*;

#[rstest]
#[case("[y, Yes, on, TRUE, yEs, 'yes', \"on\"]", json!([true, true, true, true, "yEs", "yes", "on"]))]
#[case("[n, NO, Off, False, nO]", json!([false, false, false, false, "nO"]))]
#[case("[~, null, NULL, nULL, '']", json!([null, null, null, "nULL", ""]))]
#[case("[0777, 0o17, 0x1F, 0b101, -0b11, 1_000, +5, -7]", json!([511, 15, 31, 5, -3, 1000, 5, -7]))]
#[case("[09, 0x, 0b2, 1__0, 9223372036854775808]", json!([9.0, "0x", "0b2", 10, 9_223_372_036_854_775_808_u64]))]
#[case("[-9223372036854775808, +9223372036854775808]", json!([i64::MIN, 9_223_372_036_854_775_808.0]))]
#[case("[1.5, .5, 5., 1e3, -.5, 1_0.5, 1e400]", json!([1.5, 0.5, 5.0, 1000.0, -0.5, 10.5, "1e400"]))]
#[case("[1:30, 1.2.3, 2001-01-02, 0x1p4, +]", json!(["1:30", "1.2.3", "2001-01-02", "0x1p4", "+"]))]
#[case("[!!str 7, !!int '7', !!bool yes, !!null '', !x y, !!binary aGk=]", json!(["7", 7, true, null, "y", "hi"]))]
#[case("{yes: 1, 0x10: 2, 1.50: 3, 1234567.0: 4, .00001: 5}", json!({"true": 1, "16": 2, "1.5": 3, "1.234567e+06": 4, "1e-05": 5}))]
#[case("{a: 1, <<: {a: 2, b: 2}, b: 3}", json!({"a": 2, "b": 3}))]
#[case("[&x {a: 1}, {<<: [*x, {a: 2, b: 2}]}, {'<<': 1}]", json!([{"a": 1}, {"a": 1, "b": 2}, {"<<": 1}]))]
#[case("{a: 1, a: 2}", json!({"a": 2}))]
#[case("", json!(null))]
fn values(#[case] text: &str, #[case] expected: Value) {
    assert_eq!(read(text), Ok(expected));
}

#[rstest]
#[case(".inf", ".inf is no number that JSON has")]
#[case("!!int x", "cannot decode \"x\" as a !!int")]
#[case("{[a]: 1}", "[\"a\"] cannot be a key")]
#[case("{~: 1}", "null cannot be a key")]
#[case("{<<: 7}", "map merge requires map or sequence of maps as the value")]
#[case("[-, a]", "plain scalar cannot start with '-' followed by ,[]{} at char 1 line 1 column 2")]
#[case("&a [*a]", "an anchor's value contains itself")]
fn refusals(#[case] text: &str, #[case] message: &str) {
    assert_eq!(read(text), Err(message.to_owned()));
}

#[test]
fn depth_is_bounded() {
    let lists = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&lists(DEPTH)).is_ok());
    assert!(read(&lists(DEPTH + 1)).is_err_and(|error| error.contains("nested")));
}

/// Nine levels of nine aliases each would be a thousand million texts.
#[test]
fn aliases_are_bounded() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let alias = format!("*a{}", level - 1);
        text += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    assert_eq!(read(&text), Err("document contains excessive aliasing".to_owned()));
}
