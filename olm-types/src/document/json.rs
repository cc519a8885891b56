//! JSON with a budget.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::DocumentError;
use super::budget::{Budget, Exceeded, Meter};

/// Texts of up to so many bytes hold too little to pass any budget of those that types are read with.
const SMALL: usize = 64 << 10;

/// Most nested maps and lists, whatever the budget: the reader below this one has a limit one further.
const DEPTH: usize = 126;

/// The value of a text.
///
/// # Errors
/// It is no JSON, or costs more than the budget has left.
pub fn json(text: &[u8], meter: &mut Meter) -> Result<Value, DocumentError> {
    meter.begin(text.len())?;
    read(text, meter, true)
}

/// What a text says, as a type. What is in maps and fields that the type does not know counts, too.
///
/// # Errors
/// It is no JSON, has another form than the type, or costs more than the budget.
pub fn json_as<'a, T: Deserialize<'a>>(
    text: &'a (impl AsRef<[u8]> + ?Sized),
    budget: &Budget,
) -> Result<T, DocumentError> {
    let text = text.as_ref();
    let mut meter = Meter::in_all(*budget);
    meter.begin(text.len())?;
    if text.len() > SMALL {
        read(text, &mut meter, false)?;
    }
    serde_json::from_slice(text).map_err(DocumentError::Json)
}

fn read(text: &[u8], meter: &mut Meter, keep: bool) -> Result<Value, DocumentError> {
    let mut from = serde_json::Deserializer::from_slice(text);
    let left = meter.budget().depth.min(DEPTH);
    let read = Seed { meter: &mut *meter, left, keep }.deserialize(&mut from);
    let read = read.and_then(|value| from.end().map(|()| value));
    read.map_err(|error| match meter.exceeded() {
        Some(exceeded) => {
            let at = Some((error.line(), error.column()));
            DocumentError::Exceeded(Exceeded { at, ..exceeded })
        }
        None => DocumentError::Json(error),
    })
}

/// A value that is paid for before it is made.
struct Seed<'m> {
    meter: &'m mut Meter,
    /// How many levels may be below.
    left: usize,
    /// Whether the value is kept, or only counted.
    keep: bool,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl Seed<'_> {
    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.meter.value(0).map_err(E::custom)?;
        Ok(value.into())
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
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
        self.meter.value(text.len()).map_err(E::custom)?;
        Ok(if self.keep { Value::String(text.to_owned()) } else { Value::Null })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let Self { meter, left, keep } = self;
        meter.value(0).map_err(A::Error::custom)?;
        let left = meter.below(left).map_err(A::Error::custom)?;
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Seed { meter: &mut *meter, left, keep })? {
            if keep {
                items.push(item);
            }
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let Self { meter, left, keep } = self;
        meter.value(0).map_err(A::Error::custom)?;
        let left = meter.below(left).map_err(A::Error::custom)?;
        let (mut fields, mut is_first) = (Map::new(), true);
        while let Some(key) = from.next_key::<String>()? {
            let is_first = std::mem::replace(&mut is_first, false);
            meter.entry(key.len(), is_first).map_err(A::Error::custom)?;
            let value = from.next_value_seed(Seed { meter: &mut *meter, left, keep })?;
            if keep {
                fields.insert(key, value);
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::document::Bound;

    const BUDGET: Budget = Budget { bytes: 200_000, values: 1_000, memory: 100_000, depth: 8 };

    fn exceeded(text: &str) -> Exceeded {
        match json(text.as_bytes(), &mut Meter::in_all(BUDGET)) {
            Err(DocumentError::Exceeded(exceeded)) => exceeded,
            other => panic!("{other:?}"),
        }
    }

    #[rstest]
    #[case(r#" {"a": [1, -2, 1.5, true, null, "x"], "b": {}} "#)]
    #[case(r#"{"a": 1, "a": 2}"#)]
    #[case("18446744073709551615")]
    #[case("")]
    #[case("{} x")]
    #[case("[1,")]
    #[case("1e400")]
    fn it_is_what_any_reader_makes_of_it(#[case] text: &str) {
        let own = json(text.as_bytes(), &mut Meter::in_all(BUDGET)).map_err(|it| it.to_string());
        let usual = serde_json::from_str::<Value>(text).map_err(|it| it.to_string());
        assert_eq!(own, usual);
    }

    #[rstest]
    #[case::bytes(format!("[{}]", " ".repeat(200_000)), Bound::Bytes)]
    #[case::values(format!("[{}]", ["0"; 1_000].join(",")), Bound::Values)]
    #[case::small_maps(format!("[{}]", [r#"{"":0}"#; 200].join(",")), Bound::Memory)]
    #[case::texts(format!("[{:?}]", "x".repeat(100_000)), Bound::Memory)]
    #[case::keys(format!("{{{:?}:0}}", "x".repeat(100_000)), Bound::Memory)]
    #[case::depth("[".repeat(9), Bound::Depth)]
    fn each_bound_is_kept(#[case] text: String, #[case] bound: Bound) {
        assert_eq!(exceeded(&text).bound, bound);
    }

    #[test]
    fn the_message_names_bound_place_and_remedy() {
        insta::assert_snapshot!(
            exceeded(&format!("[0,\n{}]", ["[]"; 1_000].join(","))),
            @"more than 1000 values, an alias counted with all that it stands for: use fewer aliases, or leave out what is not needed (line 2, column 2996)"
        );
    }

    /// The reader below has its own limit, which must not come first.
    #[test]
    fn the_usual_depth_is_named_as_well() {
        let text = "[".repeat(121);
        let error = json(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT)).unwrap_err();
        assert!(error.to_string().starts_with("more than 120 nested maps and lists"), "{error}");
    }

    #[test]
    fn types_are_read_within_the_budget() {
        let read = |text: &str| json_as::<Vec<u8>>(text, &BUDGET).map_err(|it| it.to_string());
        assert_eq!(read("[1, 2]"), Ok(vec![1, 2]));
        let long = format!("[{}]", vec!["0"; 40_000].join(","));
        assert!(read(&long).is_err_and(|error| error.contains("more than 1000 values")));
    }
}
