//! Blobs of schemas that have no meaning here, by schema and package.

use std::collections::BTreeMap;
use std::sync::Arc;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};

use crate::fbc::Meta;

/// Opaque blobs as protocol messages.
#[derive(Debug, Default)]
pub(super) struct Metas {
    by_key: BTreeMap<(String, String), Vec<Arc<Struct>>>,
}

impl Metas {
    pub(super) fn new(metas: Vec<Meta>) -> Self {
        let mut by_key: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for meta in metas {
            if let Some(Kind::StructValue(value)) = value(meta.value).kind {
                by_key.entry((meta.schema, meta.package)).or_default().push(Arc::new(value));
            }
        }
        Self { by_key }
    }

    /// Blobs in catalog order.
    pub(super) fn get(&self, schema: &str, package: &str) -> &[Arc<Struct>] {
        let key = (schema.to_owned(), package.to_owned());
        self.by_key.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// A JSON value as a message. Its depth is bounded by the parser it came from.
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
