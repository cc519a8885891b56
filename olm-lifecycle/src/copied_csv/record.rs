//! What is remembered of a copy.

use std::collections::BTreeMap;

use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::{annotations, labels};
use serde::{Deserialize, Deserializer};

use super::Fingerprint;
use crate::writes::resource_of;

/// A copied CSV: its name and version, whence it came, and its fingerprint. The rest of the
/// object is dropped: there is one for every operator in every namespace.
#[derive(Clone, Debug, Default)]
pub struct CopiedCsv {
    /// Namespace of the copy.
    pub namespace: Box<str>,
    /// Name of the copy and of the original.
    pub name: Box<str>,
    /// What distinguishes it from an earlier copy here.
    pub uid: Box<str>,
    /// The `resourceVersion` that was seen.
    pub version: Box<str>,
    /// The namespace of the original: as the annotation says, or else the label; empty without
    /// either.
    pub origin: Box<str>,
    /// Whether it has the label of copies. Without it the object is no copy.
    pub is_labelled: bool,
    /// Whether the annotation says where the operator is.
    pub names_operator: bool,
    /// Whether it is being deleted.
    pub is_going: bool,
    /// Its content, condensed.
    pub fingerprint: Fingerprint,
}

impl CopiedCsv {
    /// The deletion of exactly this copy.
    pub fn delete(&self) -> Effect {
        let csv = resource_of::<ClusterServiceVersion>();
        let target = Target::namespaced(csv, &self.namespace, &self.name);
        let uid = Some(self.uid.to_string()).filter(|uid| !uid.is_empty());
        let propagation = Propagation::Background;
        Effect::new(target, Action::Delete { uid, propagation, grace_seconds: None })
    }
}

impl From<ClusterServiceVersion> for CopiedCsv {
    fn from(csv: ClusterServiceVersion) -> Self {
        let fingerprint = Fingerprint::of(&csv);
        let metadata = csv.metadata;
        let label = value(&metadata.labels, labels::COPIED_FROM);
        let annotation = value(&metadata.annotations, annotations::OPERATOR_NAMESPACE);
        Self {
            origin: annotation.or(label).unwrap_or_default().into(),
            is_labelled: label.is_some(),
            names_operator: annotation.is_some(),
            is_going: metadata.deletion_timestamp.is_some(),
            fingerprint,
            namespace: boxed(metadata.namespace),
            name: boxed(metadata.name),
            uid: boxed(metadata.uid),
            version: boxed(metadata.resource_version),
        }
    }
}

fn value<'m>(map: &'m Option<BTreeMap<String, String>>, key: &str) -> Option<&'m str> {
    map.as_ref()?.get(key).map(String::as_str)
}

fn boxed(text: Option<String>) -> Box<str> {
    text.unwrap_or_default().into_boxed_str()
}

impl<'de> Deserialize<'de> for CopiedCsv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ClusterServiceVersion::deserialize(deserializer).map(Self::from)
    }
}
