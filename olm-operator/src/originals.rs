//! What copies of the originals look like, condensed.
//!
//! The store of CSVs is stripped, so the fingerprint of a copy is taken from the whole object
//! before. Only when a copy is out of step is the whole object read again.

use std::sync::Arc;

use dashmap::DashMap;
use olm_kit::ObjectKey;
use olm_lifecycle::copied_csv::{Fingerprint, Prototype};
use olm_types::api::ClusterServiceVersion;

/// How many versions of an original are known: the one that is stored, and one that is about to be.
/// What the process wrote comes before older versions that the watch still has to report.
const KEPT: usize = 2;

/// The fingerprints of the originals' prototypes. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    /// The newest versions of each, in order.
    known: Arc<DashMap<ObjectKey, Vec<(u64, Fingerprint)>>>,
}

impl Originals {
    /// Takes a whole CSV.
    pub fn note(&self, csv: &ClusterServiceVersion) {
        let version = version(csv);
        let fingerprint = Prototype::fingerprint_of(csv);
        let mut known = self.known.entry(ObjectKey::of(csv)).or_default();
        let place = known.partition_point(|(other, _)| *other < version);
        known.retain(|(other, _)| *other != version);
        known.insert(place, (version, fingerprint));
        let surplus = known.len().saturating_sub(KEPT);
        known.drain(..surplus);
    }

    /// What copies of this version of the CSV look like, if that version is known.
    pub fn fingerprint(&self, csv: &ClusterServiceVersion) -> Option<Fingerprint> {
        let known = self.known.get(&ObjectKey::of(csv))?;
        let version = version(csv);
        known.iter().find(|(other, _)| *other == version).map(|(_, fingerprint)| *fingerprint)
    }

    /// The CSV is gone.
    pub fn forget(&self, key: &ObjectKey) {
        self.known.remove(key);
    }
}

/// The version as the number that it is; zero for what no API server has stored.
fn version(csv: &ClusterServiceVersion) -> u64 {
    let version = csv.metadata.resource_version.as_deref();
    version.and_then(|version| version.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_versions_that_come_late_displace_nothing() {
        let originals = Originals::default();
        let of = |version: u32| {
            let mut csv = ClusterServiceVersion::new("a", Default::default());
            csv.metadata.resource_version = Some(version.to_string());
            csv
        };
        originals.note(&of(9));
        for version in [7, 8, 9, 10] {
            originals.note(&of(version));
            assert!(originals.fingerprint(&of(9)).is_some(), "after {version}");
        }
        assert_eq!(originals.known.iter().next().map(|known| known.len()), Some(KEPT));
    }

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
