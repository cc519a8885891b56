//! What copies of the originals look like, condensed.
//!
//! The store of CSVs is stripped, so the fingerprint of a copy is taken from the whole object
//! before. Only when a copy is out of step is the whole object read again.

use std::sync::Arc;

use dashmap::DashMap;
use olm_kit::ObjectKey;
use olm_lifecycle::copied_csv::{Fingerprint, Prototype};
use olm_types::api::ClusterServiceVersion;

/// The fingerprints of the originals' prototypes. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    known: Arc<DashMap<ObjectKey, (Option<String>, Fingerprint)>>,
}

impl Originals {
    /// Takes a whole CSV.
    pub fn note(&self, csv: &ClusterServiceVersion) {
        let version = csv.metadata.resource_version.clone();
        let fingerprint = Prototype::of(csv).fingerprint();
        self.known.insert(ObjectKey::of(csv), (version, fingerprint));
    }

    /// What copies of this version of the CSV look like, if that version is known.
    pub fn fingerprint(&self, csv: &ClusterServiceVersion) -> Option<Fingerprint> {
        let known = self.known.get(&ObjectKey::of(csv))?;
        let (version, fingerprint) = known.value();
        (*version == csv.metadata.resource_version).then_some(*fingerprint)
    }

    /// The CSV is gone.
    pub fn forget(&self, key: &ObjectKey) {
        self.known.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_that_was_noted_is_known() {
        let originals = Originals::default();
        let mut csv = ClusterServiceVersion::new("a", Default::default());
        csv.metadata.resource_version = Some("1".to_owned());
        originals.note(&csv);
        assert_eq!(originals.fingerprint(&csv), Some(Prototype::of(&csv).fingerprint()));
        csv.metadata.resource_version = Some("2".to_owned());
        assert_eq!(originals.fingerprint(&csv), None);
        originals.forget(&ObjectKey::of(&csv));
        assert!(originals.known.is_empty());
    }
}
