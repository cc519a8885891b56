//! Objects as they are received: as JSON, whatever their kind is.
//!
//! So what asks for objects is in the program once, and not once for each kind, and what reads a kind is
//! there once as well. An object that cannot be read still has a name: kube's own `DeserializeGuard` loses
//! the metadata-only mode of `PartialObjectMeta` and copies every object to be able to read its metadata.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

/// An object of a kind that is known at run time; `METADATA` asks for nothing but its metadata.
#[derive(Clone, Debug)]
pub(crate) struct Received<const METADATA: bool> {
    /// The four fields that name the object and its version.
    pub(crate) metadata: ObjectMeta,
    /// All of it.
    pub(crate) object: Value,
}

impl<'de, const METADATA: bool> Deserialize<'de> for Received<METADATA> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let metadata = metadata_of(&object);
        let metadata = metadata.ok_or_else(|| D::Error::custom("an object without a name"))?;
        Ok(Self { metadata, object })
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
