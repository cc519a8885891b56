//! Parts of objects that are JSON of any shape.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// JSON of any shape, kept as text: values may take thirty times as much memory as their text, and whoever
/// keeps objects of many users keeps all of them. Values are made of it where they are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyJson(Box<str>);

impl AnyJson {
    /// Its values.
    pub fn value(&self) -> Value {
        // It was written from values, which nest no deeper than readers follow.
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The value in this place, as a JSON pointer says it, if there is one.
    pub fn at(&self, pointer: &str) -> Option<Value> {
        self.value().pointer_mut(pointer).map(Value::take)
    }

    /// Changes its values.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Value) -> T) -> T {
        let mut value = self.value();
        let changed = change(&mut value);
        *self = value.into();
        changed
    }
}

impl Default for AnyJson {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl From<Value> for AnyJson {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Serialize for AnyJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AnyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_read_and_written_as_it_is() {
        let value = json!({"b": [1, 2.5, null, {"": "\u{e9}\""}], "a": {}});
        let read: AnyJson = serde_json::from_value(value.clone()).unwrap();
        assert_eq!((read.value(), json!(read)), (value.clone(), value));
    }

    /// Seven bytes of text for each map, which takes nearly a thousand of memory.
    #[test]
    fn no_values_are_kept() {
        let text = json!(vec![json!({"": 0}); 1_000]).to_string();
        let read: AnyJson = serde_json::from_str(&text).unwrap();
        assert_eq!(*read.0, text);
    }

    #[test]
    fn parts_are_looked_at_and_changed() {
        let mut any = AnyJson::from(json!({"a": {"b": 1}}));
        assert_eq!((any.at("/a/b"), any.at("/a/c")), (Some(json!(1)), None));
        any.change(|value| value["a"]["c"] = json!(2));
        assert_eq!(any.value(), json!({"a": {"b": 1, "c": 2}}));
        assert_eq!(AnyJson::default().value(), Value::Null);
    }
}
