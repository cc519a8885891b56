//! Objects as types, bounded by what they say.
//!
//! A type may take far more memory than its text: two bytes, `{}`, are another rule of a webhook, which has
//! more than a hundred. So each place that a value gets is counted before the value is made, whatever its type
//! is: an element of a list, an entry of a map, what is in a box. An object may have a good many of them for
//! each byte that it says, and more than any object of good will has where it says little.
//!
//! What is of any shape is not counted: its values are bounded before they are types
//! ([`received`](crate::received)), and whoever keeps it keeps its text.

mod access;
mod count;

use serde::de::{DeserializeOwned, Deserializer, Error as _, Unexpected, Visitor};
use serde_json::{Error, Value};

use access::{Elements, Entries, Fields};
use count::Count;

/// The object as a type.
///
/// # Errors
/// It has another form, or its fields take more memory than they may.
pub(crate) fn typed<K: DeserializeOwned>(object: &Value) -> Result<K, String> {
    let (mut count, place) = (Count::default(), size_of::<K>());
    let typed = K::deserialize(Typed { value: object, count: &mut count, place });
    typed.map_err(|error| error.to_string())
}

/// A value that is read as a type.
struct Typed<'de, 'c> {
    value: &'de Value,
    count: &'c mut Count,
    /// How many bytes it has a place of already.
    place: usize,
}

impl<'de> Typed<'de, '_> {
    /// What has the wrong form.
    fn other<V: Visitor<'de>>(&self, visitor: &V) -> Error {
        Error::invalid_type(unexpected(self.value), visitor)
    }
}

/// What has no values below itself is read as it is.
macro_rules! as_it_is {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.value.$method(visitor)
            }
        )*
    };
}

/// Texts are counted.
macro_rules! as_text {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.count.text(self.value)?;
                self.value.$method(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Typed<'de, '_> {
    type Error = Error;

    as_it_is! {
        deserialize_bool deserialize_unit deserialize_identifier deserialize_ignored_any
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    as_text! {
        deserialize_any deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Array(items) => visitor.visit_seq(Elements::of(items, self.count)),
            _ => Err(self.other(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(entries) => visitor.visit_map(Entries::of(entries, self.count)),
            _ => Err(self.other(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // What is larger than its place is in a box.
        self.count.take(size_of::<V::Value>().saturating_sub(self.place))?;
        match self.value {
            Value::Object(fields) => visitor.visit_map(Fields::of(fields, self.count)),
            Value::Array(items) => visitor.visit_seq(Elements::of(items, self.count)),
            _ => Err(self.other(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value.deserialize_enum(name, variants, visitor)
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(it) => Unexpected::Bool(*it),
        Value::Number(it) => match (it.as_u64(), it.as_i64(), it.as_f64()) {
            (Some(it), _, _) => Unexpected::Unsigned(it),
            (None, Some(it), _) => Unexpected::Signed(it),
            (None, None, Some(it)) => Unexpected::Float(it),
            (None, None, None) => Unexpected::Other("number"),
        },
        Value::String(it) => Unexpected::Str(it),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

#[cfg(test)]
mod tests;
