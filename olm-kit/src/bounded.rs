//! Values of which nothing is kept once they take more memory than they may.
//!
//! The length of a text says little about its values: seven bytes (`{"":0}` and a comma) are a map with a
//! node of its own, which takes nearly a thousand.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Bytes of memory of a value in a list that grows to twice what it needs.
pub(crate) const VALUE: usize = 2 * size_of::<Value>();

/// Bytes of memory of an entry of a map, its value included: nodes of maps are half full at worst.
pub(crate) const ENTRY: usize = 3 * (size_of::<String>() + size_of::<Value>());

/// Bytes of memory of the first node of a map.
pub(crate) const MAP: usize = 12 * (size_of::<String>() + size_of::<Value>());

/// Entries that the first node has places for.
const PLACES: usize = 11;

/// Bytes of memory that an allocator adds to a text.
const TEXT: usize = 16;

/// Bytes of memory that may still be taken; nothing once more were wanted.
#[derive(Debug)]
pub(crate) struct Left(Option<usize>);

impl Left {
    /// So many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self(Some(bytes))
    }

    /// Whether more were wanted than there were.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.is_none()
    }

    /// Takes so many.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.0 = self.0.and_then(|left| left.checked_sub(bytes));
    }
}

/// Reads a value. What follows once too much was wanted is passed over.
pub(crate) struct Bounded<'l>(pub(crate) &'l mut Left);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        if self.0.is_exceeded() {
            return IgnoredAny::deserialize(from).map(|_| Value::Null);
        }
        from.deserialize_any(self)
    }
}

impl Bounded<'_> {
    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.0.take(VALUE);
        Ok(value.into())
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.take(text.len() + TEXT);
        self.scalar(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let Self(left) = self;
        left.take(VALUE);
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Bounded(&mut *left))? {
            if left.is_exceeded() {
                items = Vec::new();
            } else {
                items.push(item);
            }
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let Self(left) = self;
        left.take(VALUE);
        let mut fields = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            let place = match fields.len() {
                0 => MAP,
                1..PLACES => 0,
                _ => ENTRY,
            };
            left.take(key.len() + TEXT + place);
            let value = from.next_value_seed(Bounded(&mut *left))?;
            if left.is_exceeded() {
                fields = Map::new();
            } else {
                fields.insert(key, value);
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Deserializer as Json, json};

    use super::*;

    fn read(text: &str, left: &mut Left) -> Value {
        Bounded(left).deserialize(&mut Json::from_str(text)).unwrap()
    }

    #[rstest::rstest]
    #[case(r#"{"a": [1, -2, 1.5, true, null, "x"], "b": {}, "c": {"d": [[]]}}"#)]
    #[case(r#"{"a": 1, "a": 2}"#)]
    #[case("18446744073709551615")]
    #[case(r#""\u0041""#)]
    fn what_is_small_is_what_any_reader_makes_of_it(#[case] text: &str) {
        let mut left = Left::of(10_000);
        let usual: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(text, &mut left), usual);
        assert!(!left.is_exceeded());
    }

    #[rstest::rstest]
    #[case::maps(json!(vec![json!({"": 0}); 100]))]
    #[case::values(json!(vec![0; 1_000]))]
    #[case::lists(json!(vec![json!([]); 1_000]))]
    #[case::a_text(json!("x".repeat(10_000)))]
    #[case::a_name(json!({("x".repeat(10_000)): 0}))]
    fn nothing_is_kept_of_what_is_large(#[case] value: Value) {
        let mut left = Left::of(10_000);
        let kept = read(&json!({"a": [value, "later"]}).to_string(), &mut left);
        assert!(left.is_exceeded());
        assert_eq!(kept, json!({}));
    }
}
