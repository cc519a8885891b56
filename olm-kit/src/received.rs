//! Objects as they are received: as JSON, whatever their kind is.
//!
//! So what asks for objects is in the program once, and not once for each kind, and what reads a kind is
//! there once as well. An object that cannot be read still has a name: kube's own `DeserializeGuard` loses
//! the metadata-only mode of `PartialObjectMeta` and copies every object to be able to read its metadata.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::bounded::{Bounded, Left};

/// Most bytes of memory that the values of an object may take which is one of many: thirty times as much as an
/// API server stores of one by default, which only values with next to no text take.
pub(crate) const MOST: usize = 48 << 20;

/// An object of a kind that is known at run time; `METADATA` asks for nothing but its metadata.
#[derive(Clone, Debug)]
pub(crate) struct Received<const METADATA: bool, const BOUNDED: bool = true> {
    /// The four fields that name the object and its version.
    pub(crate) metadata: ObjectMeta,
    /// All of it; null where it takes more than [`MOST`] and is `BOUNDED`.
    pub(crate) object: Value,
}

impl<'de, const METADATA: bool, const BOUNDED: bool> Deserialize<'de>
    for Received<METADATA, BOUNDED>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (object, is_too_large) = match BOUNDED {
            true => deserializer.deserialize_map(Parts(MOST))?,
            false => (Value::deserialize(deserializer)?, false),
        };
        let metadata = metadata_of(&object);
        let metadata = metadata.ok_or_else(|| D::Error::custom("an object without a name"))?;
        Ok(Self { metadata, object: if is_too_large { Value::Null } else { object } })
    }
}

/// Reads the parts of an object, of which there are at most so many bytes, and its metadata in any case; and
/// whether there was more.
struct Parts(usize);

impl<'de> Visitor<'de> for Parts {
    type Value = (Value, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut parts, mut left) = (Map::new(), Left::of(self.0));
        while let Some(key) = from.next_key::<String>()? {
            if key == "metadata" {
                let mut any = Left::of(usize::MAX);
                parts.insert(key, from.next_value_seed(Bounded(&mut any))?);
                left.take(usize::MAX - any.bytes());
            } else {
                parts.insert(key, from.next_value_seed(Bounded(&mut left))?);
            }
        }
        Ok((Value::Object(parts), left.is_exceeded()))
    }
}

/// `None` when it has neither a name nor a version, which a bookmark has.
fn metadata_of(object: &Value) -> Option<ObjectMeta> {
    let metadata = object.get("metadata")?;
    let text = |field: &str| metadata.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(ObjectMeta {
        name: Some(text("name")?),
        namespace: text("namespace"),
        uid: text("uid"),
        resource_version: text("resourceVersion"),
        ..ObjectMeta::default()
    })
}

impl<const METADATA: bool, const BOUNDED: bool> Resource for Received<METADATA, BOUNDED> {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn metadata_api() -> bool {
        METADATA
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(object: &Value, most: usize) -> (Value, bool) {
        let text = object.to_string();
        serde_json::Deserializer::from_str(&text).deserialize_map(Parts(most)).unwrap()
    }

    #[rstest::rstest]
    #[case::before(json!({"data": vec![json!({"": 0}); 100], "metadata": {"name": "a"}}))]
    #[case::after(json!({"metadata": {"name": "a"}, "spec": vec![json!({"": 0}); 100]}))]
    #[case::itself(json!({"metadata": {"name": "a", "finalizers": vec!["x"; 1_000]}}))]
    fn the_name_of_a_large_object_is_known(#[case] object: Value) {
        let (read, is_too_large) = parts(&object, 10_000);
        assert!(is_too_large);
        assert_eq!(metadata_of(&read).unwrap().name.as_deref(), Some("a"));
    }

    #[test]
    fn of_a_large_object_nothing_else_is_kept() {
        let object = json!({"metadata": {"name": "a"}, "spec": vec![json!({"": 0}); 70_000]});
        let text = object.to_string();
        let received: Received<false> = serde_json::from_str(&text).unwrap();
        assert_eq!((received.metadata.name.as_deref(), received.object), (Some("a"), Value::Null));
        let received: Received<false, false> = serde_json::from_str(&text).unwrap();
        assert_eq!(received.object, object);
    }

    #[test]
    fn a_small_object_is_kept_as_it_is() {
        let object = json!({"kind": "A", "metadata": {"name": "a"}, "spec": {"b": [1, null, "c"]}});
        assert_eq!(parts(&object, 10_000), (object, false));
    }
}
