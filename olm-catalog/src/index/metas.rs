//! Blobs of schemas that have no meaning here, as messages of the protocol.

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};

/// A blob as a message; what is no object is empty. Its depth is bounded by the parser it came
/// from.
pub(super) fn message(blob: serde_json::Value) -> Struct {
    match value(blob).kind {
        Some(Kind::StructValue(message)) => message,
        _ => Struct::default(),
    }
}

fn value(json: serde_json::Value) -> Value {
    let kind = match json {
        serde_json::Value::Null => Kind::NullValue(0),
        serde_json::Value::Bool(flag) => Kind::BoolValue(flag),
        serde_json::Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Kind::StringValue(text),
        serde_json::Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.into_iter().map(value).collect() })
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, value(field))).collect();
            Kind::StructValue(Struct { fields })
        }
    };
    Value { kind: Some(kind) }
}
