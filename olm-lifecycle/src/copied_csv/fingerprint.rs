//! Whether a copy is in step, without keeping its content.
//!
//! Fingerprints never leave the process, so their formula is free. The original's projection and
//! the observed copy go through the same one.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, ClusterServiceVersionStatus,
};

use crate::digest::digest;

/// Digest of a copy: of its metadata and spec, and of its status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Name, labels, annotations and spec.
    pub object: u64,
    /// Status.
    pub status: u64,
}

/// Which parts of a copy have to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutdatedParts {
    /// Everything but the status: created where there is no copy, replaced where there is one.
    pub object: bool,
    /// The status, which is a write of its own.
    pub status: bool,
}

impl OutdatedParts {
    /// Everything, where it is not known what a copy should look like.
    pub const ALL: Self = Self { object: true, status: true };

    /// Whether something has to be written.
    pub fn is_some(self) -> bool {
        self.object || self.status
    }
}

impl Fingerprint {
    /// What a copy lacks that was found with this fingerprint; all where none was found.
    pub fn lack(self, found: Option<Self>) -> OutdatedParts {
        OutdatedParts {
            object: found.is_none_or(|found| found.object != self.object),
            status: found.is_none_or(|found| found.status != self.status),
        }
    }

    /// The fingerprint of a copy, or of the prototype of one.
    pub fn of(csv: &ClusterServiceVersion) -> Self {
        Self::of_parts(&csv.metadata, &csv.spec, csv.status.as_ref())
    }

    /// The same of its parts, which need not be one object: a spec is large.
    pub(super) fn of_parts(
        metadata: &ObjectMeta,
        spec: &ClusterServiceVersionSpec,
        status: Option<&ClusterServiceVersionStatus>,
    ) -> Self {
        Self {
            object: digest(&(
                &metadata.name,
                metadata.labels.as_ref().filter(|labels| !labels.is_empty()),
                metadata.annotations.as_ref().filter(|annotations| !annotations.is_empty()),
                spec,
            )),
            status: digest(&status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn print(object: u64, status: u64) -> Fingerprint {
        Fingerprint { object, status }
    }

    /// The rows of spec olm-operator 8.19.
    #[rstest]
    #[case::missing(None, true, true)]
    #[case::spec_differs(Some(print(0, 2)), true, false)]
    #[case::status_differs(Some(print(1, 0)), false, true)]
    #[case::both_differ(Some(print(0, 0)), true, true)]
    #[case::equal(Some(print(1, 2)), false, false)]
    fn copy_to_namespace(
        #[case] found: Option<Fingerprint>,
        #[case] object: bool,
        #[case] status: bool,
    ) {
        assert_eq!(print(1, 2).lack(found), OutdatedParts { object, status });
    }
}
