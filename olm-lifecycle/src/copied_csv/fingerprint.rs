//! Whether a copy is in step, without keeping its content.
//!
//! Fingerprints never leave the process, so their formula is free. The original's projection and
//! the observed copy go through the same one.

use std::hash::{DefaultHasher, Hasher};
use std::io;

use olm_types::api::ClusterServiceVersion;
use serde::Serialize;

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
pub struct Lack {
    /// Everything but the status: created where there is no copy, replaced where there is one.
    pub object: bool,
    /// The status, which is a write of its own.
    pub status: bool,
}

impl Fingerprint {
    /// What a copy lacks that was found with this fingerprint; all where none was found.
    pub fn lack(self, found: Option<Self>) -> Lack {
        Lack {
            object: found.is_none_or(|found| found.object != self.object),
            status: found.is_none_or(|found| found.status != self.status),
        }
    }

    /// The fingerprint of a copy, or of the prototype of one.
    pub fn of(csv: &ClusterServiceVersion) -> Self {
        let metadata = &csv.metadata;
        Self {
            object: digest(&(
                &metadata.name,
                metadata.labels.as_ref().filter(|labels| !labels.is_empty()),
                metadata.annotations.as_ref().filter(|annotations| !annotations.is_empty()),
                &csv.spec,
            )),
            status: digest(&csv.status),
        }
    }
}

fn digest(value: &impl Serialize) -> u64 {
    let mut sink = Sink(DefaultHasher::new());
    // Writing to a hasher cannot fail, and the types serialise.
    let _ = serde_json::to_writer(&mut sink, value);
    sink.0.finish()
}

struct Sink(DefaultHasher);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
        assert_eq!(print(1, 2).lack(found), Lack { object, status });
    }
}
