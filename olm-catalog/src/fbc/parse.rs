//! Documents as JSON values.
//!
//! Both parsers refuse values nested deeper than 128, and the YAML parser bounds what aliases may
//! expand to. But a YAML scanner looks at all brackets that are open before anything is refused; so
//! YAML with too many of them is not scanned at all.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::str::Utf8Error;

use serde_json::{Number, Value};

use super::split::{Documents, Form, SplitError};
use super::{plain_yaml, yaml};

/// Most brackets open at the same time in a YAML document. Brackets inside texts count too, so
/// this is well above the depth that the parser accepts.
const OPEN_BRACKETS: usize = 512;

/// Largest number up to which every integer has a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Gives each document of a stream to `visit`, with its number from 1; an empty YAML document is
/// null. Reading ends at the first error, or when `visit` says so.
pub(super) fn documents(
    input: impl BufRead,
    limit: usize,
    mut visit: impl FnMut(usize, Result<Value, SplitError>) -> ControlFlow<()>,
) {
    let mut documents = Documents::new(input, limit);
    let mut text = Vec::new();
    for number in 1_usize.. {
        let value = match documents.next(&mut text) {
            Ok(None) => return,
            Ok(Some(Form::Yaml)) => return each_yaml(documents, text, number, &mut visit, None),
            Ok(Some(Form::Json)) => json(&text),
            Err(error) => Err(error),
        };
        match value {
            // As in Kubernetes: what is not JSON from its first or second document on is YAML.
            Err(error @ SplitError::Syntax(_)) if number <= 2 => {
                let rest = documents.again_as_yaml(&text);
                return restart(rest, number, &mut visit, error);
            }
            value => {
                let ends = value.is_err();
                if visit(number, value).is_break() || ends {
                    return;
                }
            }
        }
    }
}

/// The first document of a text that is not empty; null when there is none.
pub(crate) fn first_document(text: &[u8]) -> Result<Value, String> {
    let mut first = Ok(Value::Null);
    documents(text, usize::MAX, |_, document| {
        first = document.map_err(|error| error.to_string());
        ControlFlow::Break(())
    });
    first
}

/// All documents of a text.
///
/// # Errors
/// One cannot be read; with its number, from 1.
pub(crate) fn all_documents(text: &[u8]) -> Result<Vec<Value>, (usize, String)> {
    let mut all = Ok(Vec::new());
    documents(text, usize::MAX, |number, document| {
        match (document, &mut all) {
            (Ok(document), Ok(list)) => list.push(document),
            (Err(error), _) => all = Err((number, error.to_string())),
            (Ok(_), Err(_)) => {}
        }
        ControlFlow::Continue(())
    });
    all
}

/// Reads on as YAML; when the very first document is none either, the error is that of JSON.
fn restart(
    mut documents: Documents<impl BufRead>,
    number: usize,
    visit: &mut impl FnMut(usize, Result<Value, SplitError>) -> ControlFlow<()>,
    json: SplitError,
) {
    let mut text = Vec::new();
    match documents.next(&mut text) {
        Ok(None) => {}
        Ok(Some(_)) => each_yaml(documents, text, number, visit, Some(json)),
        Err(error) => {
            let _ = visit(number, Err(error));
        }
    }
}

/// The document in `text` and all that follow. `instead` replaces the error of the first.
fn each_yaml(
    mut documents: Documents<impl BufRead>,
    mut text: Vec<u8>,
    first: usize,
    visit: &mut impl FnMut(usize, Result<Value, SplitError>) -> ControlFlow<()>,
    mut instead: Option<SplitError>,
) {
    for number in first.. {
        let value = yaml_document(&text).map_err(|error| instead.take().unwrap_or(error));
        instead = None;
        let ends = value.is_err();
        if visit(number, value).is_break() || ends {
            return;
        }
        match documents.next(&mut text) {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => {
                let _ = visit(number.saturating_add(1), Err(error));
                return;
            }
        }
    }
}

fn json(text: &[u8]) -> Result<Value, SplitError> {
    let value = serde_json::from_slice(text);
    value.map(plain_numbers).map_err(|error| SplitError::Syntax(error.to_string()))
}

fn yaml_document(text: &[u8]) -> Result<Value, SplitError> {
    plain_yaml::read(text).map_or_else(|| parser(text), Ok)
}

/// Any YAML.
pub(super) fn parser(text: &[u8]) -> Result<Value, SplitError> {
    if open_brackets(text) > OPEN_BRACKETS {
        let message = format!("more than {OPEN_BRACKETS} brackets are open at the same time");
        return Err(SplitError::Syntax(message));
    }
    let failed = |error: Utf8Error| SplitError::Syntax(error.to_string());
    let text = std::str::from_utf8(text).map_err(failed)?;
    yaml::read(text).map(plain_numbers).map_err(SplitError::Syntax)
}

/// Whole numbers without a fraction: 1.0 is 1, as `opm` writes it.
pub(super) fn plain_numbers(mut value: Value) -> Value {
    simplify(&mut value);
    value
}

fn simplify(value: &mut Value) {
    match value {
        Value::Number(number) => *number = plain(number),
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(fields) => fields.values_mut().for_each(simplify),
        _ => {}
    }
}

fn plain(number: &Number) -> Number {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            // Exact: the number is whole and small enough.
            #[allow(clippy::cast_possible_truncation)]
            Number::from(float as i64)
        }
        _ => number.clone(),
    }
}

/// The most brackets that are open at any place of a document, wherever they stand.
fn open_brackets(text: &[u8]) -> usize {
    // Most documents have few brackets, and counting takes less time than following them.
    let opening = text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if opening <= OPEN_BRACKETS {
        return opening;
    }
    let (mut open, mut most) = (0_usize, 0);
    for byte in text {
        match byte {
            b'[' | b'{' => open = open.saturating_add(1),
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}
