//! Numbers: as API servers hold them, compare them and print them.
//!
//! A JSON number without fraction that fits is a 64-bit integer, everything else a 64-bit float.
//! A bound is cut to an integer before an integer is compared with it.

use std::fmt;

use serde_json::Value;

use super::findings::Findings;
use super::path::Path;
use super::{Bound, NumberRules};

/// How far a quotient may be from a whole number.
const EPSILON: f64 = 1e-9;

/// The largest whole number up to which all floats are exact.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// A JSON number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// A number of a JSON document.
    pub(super) fn of(number: &serde_json::Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Integer(integer),
            None => Self::Float(number.as_f64().unwrap_or(f64::MAX)),
        }
    }

    /// A bound of a schema, of the kind of this number.
    fn like(self, bound: f64) -> Self {
        match self {
            Self::Integer(_) => Self::Integer(bound as i64),
            Self::Float(_) => Self::Float(bound),
        }
    }

    /// Whether this is a whole number, up to what floats cannot distinguish.
    pub(super) fn is_whole(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => is_whole(float),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Float(float) => f.write_str(&go_text(*float)),
        }
    }
}

impl NumberRules {
    /// Checks a number.
    pub(super) fn check(
        &self,
        findings: &mut Findings,
        path: &Path<'_>,
        value: &Value,
        number: Number,
    ) {
        if let Some(factor) = self.multiple_of {
            check_factor(findings, path, value, number, factor);
        }
        if let Some(bound) =
            self.minimum.filter(|bound| exceeds(number.like(bound.value), number, bound))
        {
            let words = if bound.exclusive { "greater than" } else { "greater than or equal to" };
            let limit = number.like(bound.value);
            findings.invalid(path, value, &format!("{path} in body should be {words} {limit}"));
        }
        if let Some(bound) =
            self.maximum.filter(|bound| exceeds(number, number.like(bound.value), bound))
        {
            let words = if bound.exclusive { "less than" } else { "less than or equal to" };
            let limit = number.like(bound.value);
            findings.invalid(path, value, &format!("{path} in body should be {words} {limit}"));
        }
    }
}

/// Whether `a` is above `b`, or equal to it where the bound is excluded.
fn exceeds(a: Number, b: Number, bound: &Bound) -> bool {
    let order = match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.partial_cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Integer(a), Number::Float(b)) => (a as f64).partial_cmp(&b),
        (Number::Float(a), Number::Integer(b)) => a.partial_cmp(&(b as f64)),
    };
    order.is_some_and(|order| order.is_gt() || (bound.exclusive && order.is_eq()))
}

fn check_factor(
    findings: &mut Findings,
    path: &Path<'_>,
    value: &Value,
    number: Number,
    factor: f64,
) {
    let factor = number.like(factor);
    let fits = match (number, factor) {
        (Number::Integer(integer), Number::Integer(factor)) if factor > 0 => integer % factor == 0,
        (Number::Float(float), Number::Float(factor)) if factor > 0.0 => {
            is_whole(if factor < 1.0 { 1.0 / factor * float } else { float / factor })
        }
        _ => {
            let detail =
                format!("factor MultipleOf declared for {path} must be positive: {factor}");
            let shown = match factor {
                Number::Integer(integer) => Value::from(integer),
                Number::Float(float) => Value::from(float),
            };
            findings.invalid(path, &shown, &detail);
            return;
        }
    };
    if !fits {
        findings.invalid(path, value, &format!("{path} in body should be a multiple of {factor}"));
    }
}

fn is_whole(float: f64) -> bool {
    if !float.is_finite() || float.abs() > LARGEST_EXACT {
        return false;
    }
    let whole = float.trunc();
    let distance = (float - whole).abs();
    distance == 0.0 || (whole != 0.0 && distance / (float.abs() + whole.abs()) < EPSILON)
}

/// The shortest text that stands for the float, as Go's `%v` prints it: with an exponent of two
/// digits below 1e-4 and from 1e+06 on.
fn go_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    if (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
