//! Objects as they are received: as JSON, whatever their kind is.
//!
//! So what asks for objects is in the program once, and not once for each kind, and what reads a kind is
//! there once as well. An object that cannot be read still has a name: kube's own `DeserializeGuard` loses
//! the metadata-only mode of `PartialObjectMeta` and copies every object to be able to read its metadata.
//!
//! Values may take thirty times as much memory as their text. So all objects of a page are kept as text,
//! and values are made of one at a time.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use olm_types::document::{self, Bound, Budget, DocumentError, Meter};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Most bytes of memory that the values of an object may take which is one of many: thirty times as much as an
/// API server stores of one by default, which only values with next to no text take.
pub(crate) const MOST: usize = 48 << 20;

/// An object of a kind that is known at run time; `METADATA` asks for nothing but its metadata.
#[derive(Clone, Debug)]
pub(crate) struct Received<const METADATA: bool> {
    /// The four fields that name the object and its version.
    pub(crate) metadata: ObjectMeta,
    /// All of its fields with their texts.
    fields: Vec<(String, Box<RawValue>)>,
}

impl<const METADATA: bool> Received<METADATA> {
    /// How long its text is.
    pub(crate) fn bytes(&self) -> usize {
        self.fields.iter().map(|(_, text)| text.get().len()).sum()
    }

    /// The object.
    ///
    /// # Errors
    /// Its values take more than [`MOST`], or one of them is none that a reader of JSON knows.
    pub(crate) fn bounded(&self) -> Result<Value, String> {
        self.within(MOST).map_err(|error| match error.exceeded().map(|exceeded| exceeded.bound) {
            Some(Bound::Memory) => format!(
                "its values take more than {MOST} bytes of memory: leave out what is not needed"
            ),
            _ => error.to_string(),
        })
    }

    /// The object, however much memory its values take.
    ///
    /// # Errors
    /// One of its values is none that a reader of JSON knows.
    pub(crate) fn unbounded(&self) -> Result<Value, serde_json::Error> {
        let mut values = Map::new();
        for (name, text) in &self.fields {
            values.insert(name.clone(), serde_json::from_str(text.get())?);
        }
        Ok(Value::Object(values))
    }

    /// Its values, which take at most so many bytes together.
    fn within(&self, memory: usize) -> Result<Value, DocumentError> {
        let budget = Budget { bytes: usize::MAX, values: usize::MAX, memory, depth: usize::MAX };
        let (mut values, mut meter) = (Map::new(), Meter::in_all(budget));
        for (name, text) in &self.fields {
            let value = document::json(text.get().as_bytes(), &mut meter)?;
            values.insert(name.clone(), value);
        }
        Ok(Value::Object(values))
    }
}

impl<'de, const METADATA: bool> Deserialize<'de> for Received<METADATA> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_map(Texts)?;
        let metadata = metadata_of(&fields);
        let metadata = metadata.ok_or_else(|| D::Error::custom("an object without a name"))?;
        Ok(Self { metadata, fields })
    }
}

/// Takes the fields of an object apart. Only a reader of a text of JSON has their texts: in an event of a
/// watch, the type comes before the object, as all API servers write it.
struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = from.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

/// What names an object and its version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Names {
    name: String,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
}

/// `None` when it has no name, as a bookmark has none.
fn metadata_of(fields: &[(String, Box<RawValue>)]) -> Option<ObjectMeta> {
    let (_, text) = fields.iter().rfind(|(name, _)| name == "metadata")?;
    let names: Names = serde_json::from_str(text.get()).ok()?;
    Some(ObjectMeta {
        name: Some(names.name),
        namespace: names.namespace,
        uid: names.uid,
        resource_version: names.resource_version,
        ..ObjectMeta::default()
    })
}

impl<const METADATA: bool> Resource for Received<METADATA> {
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

    fn received(object: &Value) -> Received<false> {
        serde_json::from_str(&object.to_string()).unwrap()
    }

    #[rstest::rstest]
    #[case::before(json!({"data": vec![json!({"": 0}); 100], "metadata": {"name": "a"}}))]
    #[case::after(json!({"metadata": {"name": "a"}, "spec": vec![json!({"": 0}); 100]}))]
    #[case::itself(json!({"metadata": {"name": "a", "finalizers": vec!["x"; 1_000]}}))]
    fn the_name_of_a_large_object_is_known(#[case] object: Value) {
        let received = received(&object);
        let error = received.within(10_000).unwrap_err();
        assert_eq!(error.exceeded().unwrap().bound, Bound::Memory);
        assert_eq!(received.metadata.name.as_deref(), Some("a"));
    }

    #[test]
    fn of_a_large_object_nothing_else_is_kept() {
        let object = json!({"metadata": {"name": "a"}, "spec": vec![json!({"": 0}); 70_000]});
        let received = received(&object);
        assert_eq!(received.metadata.name.as_deref(), Some("a"));
        assert!(received.bounded().unwrap_err().contains("more than 50331648 bytes of memory"));
        assert_eq!(received.unbounded().unwrap(), object);
    }

    #[test]
    fn a_small_object_is_kept_as_it_is() {
        let object = json!({"kind": "A", "metadata": {"name": "a"}, "spec": {"b": [1, null, "c"]}});
        assert_eq!(received(&object).bounded(), Ok(object));
    }

    /// Nothing is made of values before they are asked for: the text is all there is.
    #[test]
    fn a_page_is_kept_as_text() {
        let object = json!({"metadata": {"name": "a"}, "spec": vec![json!({"": 0}); 50_000]});
        let text = json!({"metadata": {}, "items": vec![object.clone(); 12]}).to_string();
        let page: kube::api::ObjectList<Received<false>> = serde_json::from_str(&text).unwrap();
        assert_eq!(page.items.len(), 12);
        assert!(page.items.iter().map(Received::bytes).sum::<usize>() < text.len());
        let last = page.items.last().unwrap();
        assert_eq!(last.bounded(), Ok(object));
    }

    #[test]
    fn an_object_in_an_event_is_text_as_well() {
        let text = r#"{"type": "ADDED", "object": {"metadata": {"name": "a"}, "b": [1e999]}}"#;
        let event: kube::api::WatchEvent<Received<false>> = serde_json::from_str(text).unwrap();
        let kube::api::WatchEvent::Added(received) = event else { panic!("another event") };
        assert!(received.bounded().unwrap_err().contains("number out of range"));
    }

    #[rstest::rstest]
    #[case(json!({"metadata": {"resourceVersion": "7"}}))]
    #[case(json!({"spec": {}}))]
    fn what_has_no_name_is_no_object(#[case] object: Value) {
        let read = serde_json::from_str::<Received<false>>(&object.to_string());
        assert!(read.unwrap_err().to_string().contains("an object without a name"));
    }
}
