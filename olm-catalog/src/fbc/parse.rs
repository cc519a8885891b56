//! Splits a file into documents: JSON values one after the other, or YAML documents.
//!
//! A file whose first document is JSON is read as JSON. Both parsers refuse values nested deeper
//! than 128, and the YAML parser bounds what aliases may expand to. But the YAML scanner needs
//! time in proportion to the brackets that are open, before anything is refused; so YAML with
//! too many of them is not scanned at all.

use serde::Deserialize;
use serde_json::Value;

/// Most brackets open at the same time in a YAML document. Brackets inside texts count too, so
/// this is well above the depth that the parser accepts.
const OPEN_BRACKETS: usize = 512;

/// Gives each document of a file to `visit`, with its number from 1. Empty YAML documents are
/// counted and left out. Reading ends at the first syntax error, or when `visit` says so.
pub(super) fn documents(bytes: &[u8], mut visit: impl FnMut(usize, Result<Value, String>) -> bool) {
    let mut json = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().peekable();
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match json.peek() {
        Some(Ok(_)) if first == Some(&b'{') => each(json, visit),
        Some(Err(error)) if first == Some(&b'{') && !is_yaml(bytes) => {
            visit(1, Err(error.to_string()));
        }
        _ if open_brackets(bytes) > OPEN_BRACKETS => {
            visit(1, Err(format!("more than {OPEN_BRACKETS} brackets are open at the same time")));
        }
        _ => each(yaml(bytes), visit),
    }
}

fn each<E: ToString>(
    documents: impl Iterator<Item = Result<Value, E>>,
    mut visit: impl FnMut(usize, Result<Value, String>) -> bool,
) {
    for (index, document) in documents.enumerate() {
        if matches!(document, Ok(Value::Null)) {
            continue;
        }
        let broken = document.is_err();
        let goes_on = visit(index.saturating_add(1), document.map_err(|error| error.to_string()));
        if broken || !goes_on {
            return;
        }
    }
}

fn yaml(bytes: &[u8]) -> impl Iterator<Item = Result<Value, yaml_serde::Error>> + use<'_> {
    yaml_serde::Deserializer::from_slice(bytes).map(Value::deserialize)
}

/// Whether the first document is YAML, for what looks like JSON and is not.
fn is_yaml(bytes: &[u8]) -> bool {
    open_brackets(bytes) <= OPEN_BRACKETS && yaml(bytes).next().is_some_and(|first| first.is_ok())
}

/// The most brackets that are open at any place of a document, wherever they stand.
fn open_brackets(bytes: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.starts_with(b"---") {
            open = 0;
        }
        for byte in line {
            match byte {
                b'[' | b'{' => open = open.saturating_add(1),
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            most = most.max(open);
        }
    }
    most
}
