//! What is read plainly is what the parser reads.

use proptest::prelude::*;
use serde_json::json;

use super::super::stream;
use super::super::{Bound, Budget};
use super::*;

fn read(text: &[u8]) -> Option<Value> {
    super::read(text, &mut Meter::in_all(Budget::OBJECT))
}

fn parser(text: &[u8]) -> Option<Value> {
    stream::parser(text, &mut Meter::in_all(Budget::OBJECT)).ok()
}

#[test]
fn what_programs_write_is_read() {
    let text = "a: b\nlist:\n- x: 1\n  z: 'it''s'\n- plain text\nmore:\n  text: |\n    one\n\n      two\n\
                \n  last: |-\n    three\nempty:\nnone: {}\nno: []\n";
    assert!(read(text.as_bytes()).is_none(), "the key may be a boolean");
    let text = text.replace("no: []", "never: []");
    let expected = json!({
        "a": "b",
        "list": [{ "x": 1, "z": "it's" }, "plain text"],
        "more": { "text": "one\n\n  two\n", "last": "three" },
        "empty": null,
        "none": {},
        "never": [],
    });
    assert_eq!(read(text.as_bytes()), Some(expected));
}

#[test]
fn depth_is_bounded() {
    let deep = |depth| -> String {
        (0..depth).map(|indent| format!("{}a:\n", " ".repeat(indent))).collect()
    };
    assert!(read(deep(60).as_bytes()).is_some());
    assert!(read(deep(100_000 / 100).as_bytes()).is_none());
}

/// What costs too much is not left to the parser, which would pay for it again.
#[test]
fn the_budget_is_kept() {
    let budget = Budget { memory: 100_000, ..Budget::OBJECT };
    for text in ["- a: b\n".repeat(200), format!("a: {}\n", "x".repeat(100_000))] {
        let mut meter = Meter::in_all(budget);
        let text = format!("list:\n{text}");
        assert_eq!(super::read(text.as_bytes(), &mut meter), None);
        assert_eq!(meter.exceeded().map(|it| it.bound), Some(Bound::Memory));
    }
}

/// Lines that mean something, alone and together.
const LINES: [&str; 46] = [
    "a: b",
    "b: c d",
    "key:",
    "k.x/y-z_1: /v",
    "- a: b",
    "- text",
    "-",
    "- ",
    "- - a",
    "-   c: d",
    "- |",
    "t: |",
    "u: |-",
    "v: |+",
    "w: >",
    "x: |2",
    "some text",
    "  more text",
    "",
    " ",
    "    ",
    "# note",
    "a: b # note",
    "a: b#c",
    "a: 'it''s'",
    "a: 'it's'",
    "a: 'open",
    "a: \"x\\ty\"",
    "a: \"x\"y\"",
    "a: \"\\",
    "a: {}",
    "b: []",
    "a: [b]",
    "a: 1",
    "b: 1.50",
    "c: 0x1F",
    "d: 1e3",
    "e: true",
    "f: Null",
    "yes: no",
    "a: b: c",
    "a: b:",
    "a: é\u{2028}",
    "a: *x",
    "---",
    "a: ' '",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_read_is_what_the_parser_reads(
        lines in prop::collection::vec((0..5_usize, prop::sample::select(&LINES[..])), 1..9)
    ) {
        let lines = lines.iter().map(|(indent, line)| format!("{}{line}\n", " ".repeat(*indent)));
        let text: String = lines.collect();
        if let Some(value) = read(text.as_bytes()) {
            prop_assert_eq!(parser(text.as_bytes()), Some(value), "{}", text);
        }
    }
}
