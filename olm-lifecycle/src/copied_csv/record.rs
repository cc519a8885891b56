//! What is remembered of a copy.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::{NamespaceResourceScope, Resource};
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::{annotations, labels};
use serde::{Deserialize, Deserializer};

use super::Fingerprint;
use crate::writes::resource_of;

/// A copied CSV: its name and version, whence it came, and its fingerprint. Read from the whole
/// object, of which the rest is dropped: there is one for every operator in every namespace.
#[derive(Clone, Debug, Default)]
pub struct CopiedCsv {
    /// Name, namespace, uid, resourceVersion and deletionTimestamp; nothing else.
    pub metadata: ObjectMeta,
    /// The namespace of the original, as the label says; without it the object is no copy.
    pub copied_from: Option<Box<str>>,
    /// The namespace of the original, as the annotation says.
    pub operator_namespace: Option<Box<str>>,
    /// Its content, condensed.
    pub fingerprint: Fingerprint,
}

impl CopiedCsv {
    /// The namespace of the original.
    pub fn origin(&self) -> &str {
        self.operator_namespace.as_deref().or(self.copied_from.as_deref()).unwrap_or_default()
    }

    /// The deletion of exactly this copy.
    pub fn delete(&self) -> Effect {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        let name = self.metadata.name.as_deref().unwrap_or_default();
        let target = Target::namespaced(resource_of::<ClusterServiceVersion>(), namespace, name);
        let uid = self.metadata.uid.clone();
        let propagation = Propagation::Background;
        Effect::new(target, Action::Delete { uid, propagation, grace_seconds: None })
    }
}

impl From<ClusterServiceVersion> for CopiedCsv {
    fn from(csv: ClusterServiceVersion) -> Self {
        let fingerprint = Fingerprint::of(&csv);
        let value = |map: &Option<std::collections::BTreeMap<String, String>>, key: &str| {
            map.as_ref().and_then(|map| map.get(key)).map(|value| value.clone().into_boxed_str())
        };
        let metadata = csv.metadata;
        Self {
            copied_from: value(&metadata.labels, labels::COPIED_FROM),
            operator_namespace: value(&metadata.annotations, annotations::OPERATOR_NAMESPACE),
            fingerprint,
            metadata: ObjectMeta {
                name: metadata.name,
                namespace: metadata.namespace,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                deletion_timestamp: metadata.deletion_timestamp,
                ..ObjectMeta::default()
            },
        }
    }
}

impl<'de> Deserialize<'de> for CopiedCsv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ClusterServiceVersion::deserialize(deserializer).map(Self::from)
    }
}

impl Resource for CopiedCsv {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        ClusterServiceVersion::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        ClusterServiceVersion::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        ClusterServiceVersion::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        ClusterServiceVersion::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
