//! The documents of a text or a stream, as JSON values.

use std::io::BufRead;
use std::ops::ControlFlow;

use serde_json::{Number, Value};

use super::split::{Documents, Form};
use super::{DocumentError, Meter, json, plain_yaml, yaml};

/// Largest number up to which every integer has a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Gives each document of a stream to `visit`, with its number from 1; an empty YAML document is
/// null. Reading ends at the first error, or when `visit` says so.
pub fn documents(
    input: impl BufRead,
    meter: &mut Meter,
    mut visit: impl FnMut(usize, Result<Value, DocumentError>) -> ControlFlow<()>,
) {
    let mut documents = Documents::new(input, meter.budget().bytes);
    let mut text = Vec::new();
    for number in 1_usize.. {
        let before = meter.spent();
        let value = match documents.next(&mut text) {
            Ok(None) => return,
            Ok(Some(Form::Yaml)) => return each_yaml(documents, text, number, meter, &mut visit),
            Ok(Some(Form::Json)) => json(&text, meter).map(plain_numbers),
            Err(error) => Err(error),
        };
        match value {
            // As in Kubernetes: what is not JSON from its first or second document on is YAML.
            Err(error @ DocumentError::Json(_)) if number <= 2 => {
                meter.rewind(before);
                let rest = documents.again_as_yaml(&text);
                return restart(rest, number, meter, &mut visit, error);
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

/// The first document of a text; null when there is none.
///
/// # Errors
/// It cannot be read, or costs more than the budget has left.
pub fn first(text: &[u8], meter: &mut Meter) -> Result<Value, DocumentError> {
    let mut first = Ok(Value::Null);
    documents(text, meter, |_, document| {
        first = document;
        ControlFlow::Break(())
    });
    first
}

/// All documents of a text.
///
/// # Errors
/// One cannot be read, or costs more than the budget has left; with its number, from 1.
pub fn all(text: &[u8], meter: &mut Meter) -> Result<Vec<Value>, (usize, DocumentError)> {
    let mut all = Ok(Vec::new());
    documents(text, meter, |number, document| {
        match (document, &mut all) {
            (Ok(document), Ok(list)) => list.push(document),
            (Err(error), _) => all = Err((number, error)),
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
    meter: &mut Meter,
    visit: &mut impl FnMut(usize, Result<Value, DocumentError>) -> ControlFlow<()>,
    json: DocumentError,
) {
    let (mut text, mut json) = (Vec::new(), Some(json));
    match documents.next(&mut text) {
        Ok(None) => {}
        Ok(Some(_)) => each_yaml(documents, text, number, meter, &mut |place, value| {
            let json = json.take();
            let value = value.map_err(|error| match error {
                DocumentError::Syntax(_) => json.unwrap_or(error),
                error => error,
            });
            visit(place, value)
        }),
        Err(error) => {
            let _ = visit(number, Err(error));
        }
    }
}

/// The document in `text` and all that follow.
fn each_yaml(
    mut documents: Documents<impl BufRead>,
    mut text: Vec<u8>,
    first: usize,
    meter: &mut Meter,
    visit: &mut impl FnMut(usize, Result<Value, DocumentError>) -> ControlFlow<()>,
) {
    for number in first.. {
        let value = yaml_document(&text, meter);
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

fn yaml_document(text: &[u8], meter: &mut Meter) -> Result<Value, DocumentError> {
    meter.begin(text.len())?;
    let before = meter.spent();
    match (plain_yaml::read(text, meter), meter.exceeded()) {
        (Some(value), _) => Ok(value),
        (None, Some(exceeded)) => Err(exceeded.into()),
        (None, None) => {
            meter.rewind(before);
            parser(text, meter)
        }
    }
}

/// Any YAML.
pub(super) fn parser(text: &[u8], meter: &mut Meter) -> Result<Value, DocumentError> {
    let text = std::str::from_utf8(text);
    let text = text.map_err(|error| DocumentError::Syntax(error.to_string()))?;
    yaml::within(text, meter).map(plain_numbers)
}

/// A value with whole numbers without a fraction: 1.0 is 1, as `opm` writes it.
pub fn plain_numbers(mut value: Value) -> Value {
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
