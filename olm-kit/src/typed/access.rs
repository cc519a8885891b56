//! What lists, maps and types have below themselves, each counted before it is read.

use std::slice;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess};
use serde_json::{Error, Map, Value, map};

use super::Typed;
use super::count::Count;

/// Entries that the first node of a map has places for; the other nodes are half full at worst.
const PLACES: usize = 11;

/// A comma behind an element.
const COMMA: usize = 1;

/// What is around the name of a field: quotes, colon and comma.
const AROUND_NAME: usize = 4;

/// The elements of a list.
pub(super) struct Elements<'de, 'c> {
    items: slice::Iter<'de, Value>,
    count: &'c mut Count,
}

impl<'de, 'c> Elements<'de, 'c> {
    pub(super) fn of(items: &'de [Value], count: &'c mut Count) -> Self {
        count.open();
        Self { items: items.iter(), count }
    }
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some(value) = self.items.next() else { return Ok(None) };
        let place = size_of::<S::Value>();
        self.count.say(COMMA);
        // A list grows to twice what it needs.
        self.count.take(place.saturating_mul(2))?;
        seed.deserialize(Typed { value, count: &mut *self.count, place }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a map.
pub(super) struct Entries<'de, 'c> {
    pairs: Pairs<'de, 'c>,
    entries: usize,
    /// Bytes of the name that was read last.
    name: usize,
}

impl<'de, 'c> Entries<'de, 'c> {
    pub(super) fn of(entries: &'de Map<String, Value>, count: &'c mut Count) -> Self {
        Self { pairs: Pairs::of(entries, count), entries: 0, name: 0 }
    }

    /// How many places another entry takes.
    fn places(&mut self) -> usize {
        let before = self.entries;
        self.entries = before.saturating_add(1);
        match before {
            0 => PLACES + 1,
            1..PLACES => 0,
            _ => 3,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'de, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.name = size_of::<S::Value>();
        self.pairs.name(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let entry = self.name.saturating_add(size_of::<S::Value>());
        let taken = self.places().saturating_mul(entry);
        self.pairs.count.take(taken)?;
        self.pairs.value(seed)
    }
}

/// The fields of a type, which has places for all of them.
pub(super) struct Fields<'de, 'c>(Pairs<'de, 'c>);

impl<'de, 'c> Fields<'de, 'c> {
    pub(super) fn of(fields: &'de Map<String, Value>, count: &'c mut Count) -> Self {
        Self(Pairs::of(fields, count))
    }
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.0.name(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        self.0.value(seed)
    }
}

/// Names and values.
struct Pairs<'de, 'c> {
    pairs: map::Iter<'de>,
    /// The value of the name that was read last.
    value: Option<&'de Value>,
    count: &'c mut Count,
}

impl<'de, 'c> Pairs<'de, 'c> {
    fn of(pairs: &'de Map<String, Value>, count: &'c mut Count) -> Self {
        count.open();
        Self { pairs: pairs.iter(), value: None, count }
    }

    fn name<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((name, value)) = self.pairs.next() else { return Ok(None) };
        self.value = Some(value);
        self.count.say(name.len().saturating_add(AROUND_NAME));
        seed.deserialize(BorrowedStrDeserializer::<Error>::new(name)).map(Some)
    }

    fn value<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("a field without a value"))?;
        let place = size_of::<S::Value>();
        seed.deserialize(Typed { value, count: &mut *self.count, place })
    }
}
