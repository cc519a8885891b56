//! The same texts as in v0's own table of what scalars mean, and what holds them together.

use rstest::rstest;
use serde_json::json;

use super::super::budget::{Bound, Budget};
use super::*;

fn read(text: &str) -> Result<Value, String> {
    super::read(text, &mut Meter::in_all(Budget::OBJECT)).map_err(|error| error.to_string())
}

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
    assert!(read(&lists(120)).is_ok());
    assert!(read(&lists(121)).is_err_and(|error| error.contains("nested")));
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

/// What a budget bounds: one long text, many values, and a value within a value within a value, each of
/// which an alias may stand for.
#[rstest]
#[case::texts(format!("[&a {}, {}]", "x".repeat(9_000), ["*a,0"; 20].join(",")), Bound::Memory)]
#[case::copies_for_aliases(
    format!("{}[{}]{}", "&a [".repeat(100), ["x"; 100].join(","), "]".repeat(100)),
    Bound::Memory
)]
#[case::merged(
    format!("a: &a {{{}}}\nb: [{}]\n", ["k: 0"; 9].join(","), ["{<<: *a}"; 250].join(",")),
    Bound::Memory
)]
#[case::values(format!("a: &a [{}]\nb: [{}]\n", ["0"; 150].join(","), ["*a"; 9].join(",")), Bound::Values)]
#[case::small_maps(["- {a: 0}\n"; 200].concat(), Bound::Memory)]
#[case::depth(format!("{}{}", "[".repeat(9), "]".repeat(9)), Bound::Depth)]
#[case::depth_in_blocks("- ".repeat(9), Bound::Depth)]
fn what_is_made_is_bounded(#[case] text: String, #[case] bound: Bound) {
    let budget = Budget { bytes: 20_000, values: 500, memory: 100_000, depth: 8 };
    let budget = if bound == Bound::Depth { budget } else { Budget { depth: 120, ..budget } };
    let error = super::read(&text, &mut Meter::in_all(budget)).unwrap_err();
    assert_eq!(error.exceeded().map(|it| it.bound), Some(bound), "{error}");
}

#[test]
fn the_place_is_named() {
    let budget = Budget { values: 2, ..Budget::OBJECT };
    let error = super::read("a: 1\nb: 2\n", &mut Meter::in_all(budget)).unwrap_err();
    insta::assert_snapshot!(error, @"more than 2 values, an alias counted with all that it stands for: use fewer aliases, or leave out what is not needed (line 2, column 1)");
}
