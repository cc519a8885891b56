//! Decodes a value into a type and encodes it again, as one step.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::types::TYPES;

/// A type, as [`super::types`] writes it.
type Type = &'static str;

struct Field {
    name: &'static str,
    omit_empty: bool,
    omit_zero: bool,
    of: Type,
}

static STRUCTS: LazyLock<BTreeMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let fields = |text: &'static str| text.split_whitespace().filter_map(Field::read).collect();
    TYPES.iter().map(|(name, text)| (*name, fields(text))).collect()
});

/// The value of a type. The error names the field.
pub(super) fn decode(of: Type, value: &Value) -> Result<Value, String> {
    as_type(of, value)
}

impl Field {
    fn read(text: &'static str) -> Option<Self> {
        let (name, of) = text.split_once(':')?;
        let trimmed = name.trim_end_matches(['?', '!']);
        let marks = name.strip_prefix(trimmed)?;
        let (omit_empty, omit_zero) = (marks.contains('?'), marks.contains('!'));
        Some(Self { name: trimmed, omit_empty, omit_zero, of })
    }

    /// What is written for the field, if anything.
    fn written(&self, value: Value) -> Option<Value> {
        let omitted =
            self.omit_empty && is_empty(self.of, &value) || self.omit_zero && value.is_null();
        (!omitted).then_some(value)
    }
}

fn as_type(of: Type, value: &Value) -> Result<Value, String> {
    if let Some(inner) = of.strip_prefix('*') {
        return if value.is_null() { Ok(Value::Null) } else { as_type(inner, value) };
    }
    if let Some(inner) = of.strip_prefix("[]") {
        return as_list(inner, value);
    }
    if let Some(inner) = of.strip_prefix("{}") {
        return as_map(inner, value);
    }
    match (of, value) {
        ("raw", _) => Ok(value.clone()),
        ("schema|bool", Value::Bool(_)) => Ok(value.clone()),
        ("schema|bool", Value::Null) => Ok(json!(false)),
        ("schema|bool" | "schema|[]schema" | "schema|[]string", Value::Object(_)) => {
            as_type("Schema", value)
        }
        ("schema|bool", _) => Err(": boolean or JSON schema expected".to_owned()),
        ("schema|[]schema", Value::Array(_)) => as_list("Schema", value).map(null_if_empty),
        ("schema|[]string", Value::Array(_)) => as_list("string", value).map(null_if_empty),
        ("schema|[]schema" | "schema|[]string", _) => Ok(Value::Null),
        (_, Value::Null) => zero(of),
        _ if STRUCTS.contains_key(of) => as_struct(of, value),
        _ => as_scalar(of, value),
    }
}

fn as_list(inner: Type, value: &Value) -> Result<Value, String> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Array(items) => {
            let item = |(place, item)| as_type(inner, item).map_err(|e| format!("[{place}]{e}"));
            items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)
        }
        _ => Err(mismatch("list", value)),
    }
}

fn as_map(inner: Type, value: &Value) -> Result<Value, String> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| match as_type(inner, value) {
                Ok(value) => Ok((key.clone(), value)),
                Err(error) => Err(format!("[{key:?}]{error}")),
            };
            fields.iter().map(field).collect::<Result<_, _>>().map(Value::Object)
        }
        _ => Err(mismatch("map", value)),
    }
}

fn as_struct(of: Type, value: &Value) -> Result<Value, String> {
    let Value::Object(given) = value else { return Err(mismatch("map", value)) };
    let mut read = Map::new();
    for field in STRUCTS.get(of).into_iter().flatten() {
        let value = given.get(field.name).or_else(|| in_other_case(of, given, field.name));
        let value = match value {
            Some(value) => {
                as_type(field.of, value).map_err(|error| format!(".{}{error}", field.name))?
            }
            None => zero(field.of)?,
        };
        if let Some(value) = field.written(value) {
            read.insert(field.name.to_owned(), value);
        }
    }
    Ok(Value::Object(read))
}

/// A value whose name differs in case alone, and is not that of another field.
fn in_other_case<'a>(of: Type, given: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let is_field = |key: &str| STRUCTS.get(of).into_iter().flatten().any(|field| field.name == key);
    let found = given.iter().find(|(key, _)| key.eq_ignore_ascii_case(name) && !is_field(key));
    found.map(|(_, value)| value)
}

fn as_scalar(of: Type, value: &Value) -> Result<Value, String> {
    let fits = match (of, value) {
        ("string", Value::String(_)) | ("bool", Value::Bool(_)) | ("float", Value::Number(_)) => {
            true
        }
        ("int", Value::Number(number)) => number.is_i64(),
        ("int32", Value::Number(number)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
        }
        ("bytes", Value::String(text)) => BASE64_STANDARD.decode(text).is_ok(),
        ("time", Value::String(text)) => return as_time(text),
        _ => false,
    };
    if fits { Ok(value.clone()) } else { Err(mismatch(of, value)) }
}

/// Times are given out in UTC, to the second.
fn as_time(text: &str) -> Result<Value, String> {
    let time: Timestamp = text.parse().map_err(|_| format!(": {text:?} is no time"))?;
    Ok(json!(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
}

/// What a field has that is not given.
fn zero(of: Type) -> Result<Value, String> {
    Ok(match of {
        "string" => json!(""),
        "bool" | "schema|bool" => json!(false),
        "int" | "int32" | "float" => json!(0),
        _ if STRUCTS.contains_key(of) => as_struct(of, &json!({}))?,
        _ => Value::Null,
    })
}

/// What `omitempty` leaves out: no struct, ever.
fn is_empty(of: Type, value: &Value) -> bool {
    match value {
        Value::Null => !matches!(of, "time" | "raw"),
        _ if of.starts_with('*') => false,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => of.starts_with("{}") && fields.is_empty(),
    }
}

fn null_if_empty(list: Value) -> Value {
    if list.as_array().is_some_and(Vec::is_empty) { Value::Null } else { list }
}

fn mismatch(wanted: &str, found: &Value) -> String {
    let kind = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    };
    let wanted = match wanted {
        "string" => "a text",
        "bool" => "a boolean",
        "int" | "int32" => "a whole number",
        "float" => "a number",
        "bytes" => "a text in base64",
        "time" => "a time",
        "list" => "a list",
        _ => "a map",
    };
    format!(": there is {kind}, and must be {wanted}")
}
