//! What scalars mean in YAML 1.1, as Go's first parser of YAML has it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Number, Value};

/// The prefix of tags that YAML itself defines; `!!` stands for it.
const YAML: &str = "tag:yaml.org,2002:";

/// What a plain scalar is: a word for a boolean or null, a number, or a text.
///
/// # Errors
/// It is no number and infinity, which JSON does not have.
pub fn plain(text: &str) -> Result<Value, String> {
    if let Some(value) = word(text) {
        return value;
    }
    let number = match text.bytes().next() {
        Some(b'0'..=b'9' | b'+' | b'-') => number(&text.replace('_', "")),
        Some(b'.') => text.parse().ok().and_then(float),
        _ => None,
    };
    Ok(number.map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

/// What a scalar with a tag is.
///
/// # Errors
/// The text is not what the tag says.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Value, String> {
    let Some(kind) = tag.strip_prefix(YAML) else { return Ok(Value::String(text.to_owned())) };
    let mismatch = || format!("cannot decode {text:?} as a !!{kind}");
    match kind {
        "binary" => {
            let bytes = BASE64_STANDARD.decode(text).map_err(|_| mismatch())?;
            Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()))
        }
        "bool" => Some(plain(text)?).filter(Value::is_boolean).ok_or_else(mismatch),
        "null" => Some(plain(text)?).filter(Value::is_null).ok_or_else(mismatch),
        "int" => Some(plain(text)?).filter(is_int).ok_or_else(mismatch),
        "float" => Some(plain(text)?).filter(Value::is_number).ok_or_else(mismatch),
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// What a value is called as a key.
///
/// # Errors
/// It is no scalar, null, or a number that only unsigned integers hold.
pub(super) fn into_key(value: Value) -> Result<String, String> {
    match value {
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => Ok(float_key(float)),
            _ if number.is_i64() => Ok(number.to_string()),
            _ => Err(format!("{number} cannot be a key")),
        },
        Value::String(text) => Ok(text),
        other => Err(format!("{other} cannot be a key")),
    }
}

/// The words that are no texts.
fn word(text: &str) -> Option<Result<Value, String>> {
    let value = match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => {
            return Some(Err(format!("{text} is no number that JSON has")));
        }
        _ => return None,
    };
    Some(Ok(value))
}

/// A number that begins with a digit or a sign, without the underscores that it had.
fn number(text: &str) -> Option<Number> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    match magnitude(digits) {
        Some(number) if is_negative && number <= i64::MIN.unsigned_abs() => {
            return Some(0_i64.wrapping_sub_unsigned(number).into());
        }
        // Go reads a sign only where the number fits a signed one.
        Some(number)
            if !is_negative && (digits.len() == text.len() || i64::try_from(number).is_ok()) =>
        {
            return Some(number.into());
        }
        _ => {}
    }
    if is_decimal(digits) { float(text.parse().ok()?) } else { None }
}

/// An integer: `0x` hexadecimal, `0o` and `0` octal, `0b` binary, else decimal.
fn magnitude(digits: &str) -> Option<u64> {
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
    if are_digits { u64::from_str_radix(digits, base).ok() } else { None }
}

/// `.5`, `5.`, `5.5`, each with an exponent or not.
fn is_decimal(text: &str) -> bool {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        None => (text, "0"),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let some = !whole.is_empty() || !fraction.is_empty();
    some && are_digits(whole)
        && are_digits(fraction)
        && !exponent.is_empty()
        && are_digits(exponent)
}

/// A float; whole ones are written without a fraction later.
fn float(float: f64) -> Option<Number> {
    Number::from_f64(float)
}

/// As many digits as single precision has, with an exponent where the number is large or small.
// The loss is the point: keys are written in single precision.
#[allow(clippy::cast_possible_truncation)]
fn float_key(float: f64) -> String {
    let short = float as f32;
    let text = format!("{short:e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or_default();
    if (-4..6).contains(&power) {
        return short.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

/// Whether a number is one that was written without a fraction.
fn is_int(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}
