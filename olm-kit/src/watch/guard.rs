//! Objects that may be malformed.
//!
//! kube's own `DeserializeGuard` loses the metadata-only mode of `PartialObjectMeta` and copies
//! every object to be able to read its metadata; this one reads both from one JSON tree, and drops
//! `managedFields` before the object is built.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::DynamicResourceScope;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// An object, or what could be read of it and why the rest could not.
#[derive(Clone, Debug)]
pub(super) enum Guarded<K> {
    Good(K),
    Bad { metadata: ObjectMeta, error: String },
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        drop_managed_fields(&mut value);
        match K::deserialize(&value) {
            Ok(object) => Ok(Self::Good(object)),
            Err(error) => {
                let metadata = metadata_of(&value).ok_or_else(|| D::Error::custom(&error))?;
                Ok(Self::Bad { metadata, error: error.to_string() })
            }
        }
    }
}

fn drop_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// The four fields that name an object and its version; `None` when it has no name.
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

/// The scope is dynamic so that one generic watch serves cluster-scoped and namespaced kinds.
impl<K: Resource> Resource for Guarded<K> {
    type DynamicType = K::DynamicType;
    type Scope = DynamicResourceScope;

    fn kind(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn plural(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Good(object) => object.meta(),
            Self::Bad { metadata, .. } => metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Good(object) => object.meta_mut(),
            Self::Bad { metadata, .. } => metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kube::core::PartialObjectMeta;
    use serde_json::json;

    use super::*;

    fn read(object: Value) -> Result<Guarded<Pod>, serde_json::Error> {
        serde_json::from_value(object)
    }

    #[test]
    fn a_malformed_object_keeps_its_name_and_says_why() {
        let metadata = json!({"name": "a", "namespace": "ns", "resourceVersion": "7"});
        let pod = read(json!({"metadata": metadata, "spec": {"containers": "none"}})).unwrap();
        let Guarded::Bad { metadata, error } = &pod else { panic!("{pod:?}") };
        assert_eq!(metadata.resource_version.as_deref(), Some("7"));
        assert!(error.contains("invalid type: string \"none\""), "{error}");
    }

    #[test]
    fn malformed_metadata_does_not_matter_while_there_is_a_name() {
        let pod = read(json!({"metadata": {"name": "a", "labels": 7}})).unwrap();
        assert!(matches!(pod, Guarded::Bad { .. }));
        assert!(read(json!({"metadata": {"labels": 7}})).is_err());
    }

    #[test]
    fn managed_fields_are_dropped() {
        let managed = json!([{"manager": "kubectl"}]);
        let pod = read(json!({"metadata": {"name": "a", "managedFields": managed}})).unwrap();
        assert!(pod.meta().managed_fields.is_none());
    }

    #[test]
    fn metadata_only_watches_stay_metadata_only() {
        assert!(Guarded::<PartialObjectMeta<Pod>>::metadata_api());
        assert!(!Guarded::<Pod>::metadata_api());
    }
}
