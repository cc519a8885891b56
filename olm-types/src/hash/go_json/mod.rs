//! JSON text of an object as Go's `encoding/json` writes it after decoding it into its Go type.
//!
//! Fields stand in declaration order, not alphabetically; unknown ones vanish; empty ones vanish
//! or appear as `null`, `""`, `0` or `{}`, as the type says; map keys are sorted; quantities are
//! canonical; `<`, `>` and `&` are escaped. The types come from the table `go_shapes.json`, made
//! by `xtask/goshapes`. Explicit `null` reads as absent; keys are compared exactly.

mod error;
mod shape;
mod text;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

pub use self::error::EncodeError;
use self::shape::{Field, Shape, Table};
use super::quantity::canonical_quantity;

pub(crate) use self::text::{compact, write_compact, write_string};

/// Go's JSON text of `value` decoded into the Go type `shape`, for example `apps/v1.DeploymentSpec`
/// or `[]rbac/v1.PolicyRule`.
///
/// # Errors
/// When the type is unknown, or the value does not fit it.
pub fn encode(shape: &str, value: &Value) -> Result<String, EncodeError> {
    let table = shape::table()?;
    let shape = table.shape(shape)?;
    let mut encoder = Encoder { table, out: String::new() };
    encoder.write(&shape, some(value))?;
    Ok(encoder.out)
}

struct Encoder<'t> {
    table: &'t Table,
    out: String,
}

/// `null` is the same as nothing.
fn some(value: &Value) -> Option<&Value> {
    Some(value).filter(|value| !value.is_null())
}

impl Encoder<'_> {
    fn write(&mut self, shape: &Shape, value: Option<&Value>) -> Result<(), EncodeError> {
        match (shape, value) {
            (
                Shape::Pointer(_) | Shape::List(_) | Shape::Map(_) | Shape::Time | Shape::Raw,
                None,
            ) => {
                self.out.push_str("null");
                Ok(())
            }
            (Shape::Pointer(inner), Some(_)) => self.write(inner, value),
            (Shape::List(inner), Some(Value::Array(items))) => self.write_list(inner, items),
            (Shape::Map(inner), Some(Value::Object(entries))) => self.write_map(inner, entries),
            (Shape::Struct(name), None) => self.write_struct(name, &Map::new()),
            (Shape::Struct(name), Some(Value::Object(object))) => self.write_struct(name, object),
            (Shape::Time, Some(value)) => self.write_time(value),
            (Shape::Raw, Some(value)) => {
                write_compact(&mut self.out, &value.to_string());
                Ok(())
            }
            (Shape::Quantity, value) => self.write_quantity(value),
            (shape, value) => self.write_scalar(shape, value),
        }
    }

    fn write_list(&mut self, inner: &Shape, items: &[Value]) -> Result<(), EncodeError> {
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index > 0);
            self.write(inner, some(item)).map_err(|error| error.inside(&format!("[{index}]")))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn write_map(
        &mut self,
        inner: &Shape,
        entries: &Map<String, Value>,
    ) -> Result<(), EncodeError> {
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        self.out.push('{');
        for (index, (key, value)) in entries.into_iter().enumerate() {
            self.separate(index > 0);
            self.write_key(key);
            self.write(inner, some(value)).map_err(|error| error.inside(&format!("[{key:?}]")))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn write_struct(&mut self, name: &str, object: &Map<String, Value>) -> Result<(), EncodeError> {
        let table = self.table;
        self.out.push('{');
        let mut written = false;
        for field in table.fields(name)? {
            let value = object.get(&field.name).and_then(some);
            if omitted(table, field, value)? {
                continue;
            }
            self.separate(written);
            written = true;
            self.write_key(&field.name);
            self.write(&field.shape, value)
                .map_err(|error| error.inside(&format!(".{}", field.name)))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn write_scalar(&mut self, shape: &Shape, value: Option<&Value>) -> Result<(), EncodeError> {
        match (shape, value) {
            (Shape::Bool, None | Some(Value::Bool(false))) => self.out.push_str("false"),
            (Shape::Bool, Some(Value::Bool(true))) => self.out.push_str("true"),
            (Shape::Text, None) => self.out.push_str("\"\""),
            (Shape::Text | Shape::IntOrString, Some(Value::String(text))) => {
                write_string(&mut self.out, text)
            }
            (Shape::Int32 | Shape::Int64 | Shape::IntOrString, None) => self.out.push('0'),
            (Shape::Int32 | Shape::Int64 | Shape::IntOrString, Some(Value::Number(_))) => {
                let number =
                    integer(shape, value).ok_or_else(|| EncodeError::mismatch(shape, value))?;
                self.out.push_str(&number.to_string());
            }
            _ => return Err(EncodeError::mismatch(shape, value)),
        }
        Ok(())
    }

    fn write_quantity(&mut self, value: Option<&Value>) -> Result<(), EncodeError> {
        let text = match value {
            None => "0".to_owned(),
            Some(Value::String(text)) => text.trim().to_owned(),
            // A whole number such as 1e3 arrives as a float; Kubernetes has stored it without a fraction.
            Some(Value::Number(number)) => number.to_string().trim_end_matches(".0").to_owned(),
            _ => return Err(EncodeError::mismatch(&Shape::Quantity, value)),
        };
        let quantity = canonical_quantity(&text)
            .map_err(|source| EncodeError::Quantity { path: String::new(), source })?;
        write_string(&mut self.out, &quantity);
        Ok(())
    }

    /// Times are written in UTC, to the second.
    fn write_time(&mut self, value: &Value) -> Result<(), EncodeError> {
        let time: Timestamp = value
            .as_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| EncodeError::mismatch(&Shape::Time, Some(value)))?;
        write_string(&mut self.out, &time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        Ok(())
    }

    fn write_key(&mut self, key: &str) {
        write_string(&mut self.out, key);
        self.out.push(':');
    }

    fn separate(&mut self, needed: bool) {
        if needed {
            self.out.push(',');
        }
    }
}

fn omitted(table: &Table, field: &Field, value: Option<&Value>) -> Result<bool, EncodeError> {
    if field.omit_empty && is_empty(&field.shape, value) {
        return Ok(true);
    }
    Ok(field.omit_zero && is_zero(table, &field.shape, value)?)
}

/// What `omitempty` leaves out: no struct, ever.
fn is_empty(shape: &Shape, value: Option<&Value>) -> bool {
    match (shape, value) {
        (Shape::Struct(_) | Shape::Quantity | Shape::IntOrString | Shape::Time | Shape::Raw, _) => {
            false
        }
        (_, None) => true,
        (Shape::List(_), Some(Value::Array(items))) => items.is_empty(),
        (Shape::Map(_), Some(Value::Object(entries))) => entries.is_empty(),
        (Shape::Bool, Some(Value::Bool(flag))) => !flag,
        (Shape::Text, Some(Value::String(text))) => text.is_empty(),
        (Shape::Int32 | Shape::Int64, Some(Value::Number(_))) => integer(shape, value) == Some(0),
        _ => false,
    }
}

/// What `omitzero` leaves out: structs of zeros too, but no list or map that is there.
fn is_zero(table: &Table, shape: &Shape, value: Option<&Value>) -> Result<bool, EncodeError> {
    let (Shape::Struct(name), Some(Value::Object(object))) = (shape, value) else {
        let container = matches!(shape, Shape::List(_) | Shape::Map(_));
        return Ok(value.is_none() || !container && is_empty(shape, value));
    };
    for field in table.fields(name)? {
        if !is_zero(table, &field.shape, object.get(&field.name).and_then(some))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The number, if it is whole and fits the type.
fn integer(shape: &Shape, value: Option<&Value>) -> Option<i64> {
    let value = value?;
    let number = value.as_i64().or_else(|| value.as_f64().and_then(whole))?;
    match shape {
        Shape::Int64 => Some(number),
        _ => i32::try_from(number).ok().map(i64::from),
    }
}

/// Schemas allow `1.0` where an integer is meant; up to 2^53 a float says exactly which.
#[allow(clippy::cast_possible_truncation)] // whole and in range, as checked
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0).then_some(number as i64)
}
