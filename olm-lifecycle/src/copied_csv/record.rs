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
    /// Namespace, name, uid, version and origin, one behind the other: one allocation instead of five.
    texts: Box<str>,
    /// Where the first four end, in bytes. An API server bounds each of them to a few hundred.
    ends: [u16; 4],
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
    /// Namespace of the copy.
    pub fn namespace(&self) -> &str {
        self.text(0, self.ends[0])
    }

    /// Name of the copy and of the original.
    pub fn name(&self) -> &str {
        self.text(self.ends[0], self.ends[1])
    }

    /// What distinguishes it from an earlier copy here; empty for an object that no API server has stored.
    pub fn uid(&self) -> &str {
        self.text(self.ends[1], self.ends[2])
    }

    /// The `resourceVersion` that was seen; empty for an object that no API server has stored.
    pub fn version(&self) -> &str {
        self.text(self.ends[2], self.ends[3])
    }

    /// The namespace of the original: as the annotation says, or else the label; empty without
    /// either.
    pub fn origin(&self) -> &str {
        self.texts.get(usize::from(self.ends[3])..).unwrap_or_default()
    }

    /// The deletion of exactly this copy.
    pub fn delete(&self) -> Effect {
        let csv = resource_of::<ClusterServiceVersion>();
        let target = Target::namespaced(csv, self.namespace(), self.name());
        let uid = Some(self.uid().to_owned()).filter(|uid| !uid.is_empty());
        let propagation = Propagation::Background;
        Effect::new(target, Action::Delete { uid, propagation, grace_seconds: None })
    }

    fn text(&self, from: u16, to: u16) -> &str {
        self.texts.get(usize::from(from)..usize::from(to)).unwrap_or_default()
    }
}

impl From<ClusterServiceVersion> for CopiedCsv {
    fn from(csv: ClusterServiceVersion) -> Self {
        let fingerprint = Fingerprint::of(&csv);
        let metadata = csv.metadata;
        let label = value(&metadata.labels, labels::COPIED_FROM);
        let annotation = value(&metadata.annotations, annotations::OPERATOR_NAMESPACE);
        let bounded =
            [&metadata.namespace, &metadata.name, &metadata.uid, &metadata.resource_version];
        let (mut texts, mut ends) = (String::new(), [0; 4]);
        for (text, end) in bounded.into_iter().zip(&mut ends) {
            texts.push_str(text.as_deref().unwrap_or_default());
            *end = u16::try_from(texts.len()).unwrap_or(u16::MAX);
        }
        texts.push_str(annotation.or(label).unwrap_or_default());
        Self {
            texts: texts.into_boxed_str(),
            ends,
            is_labelled: label.is_some(),
            names_operator: annotation.is_some(),
            is_going: metadata.deletion_timestamp.is_some(),
            fingerprint,
        }
    }
}

fn value<'m>(map: &'m Option<BTreeMap<String, String>>, key: &str) -> Option<&'m str> {
    map.as_ref()?.get(key).map(String::as_str)
}

impl<'de> Deserialize<'de> for CopiedCsv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ClusterServiceVersion::deserialize(deserializer).map(Self::from)
    }
}
