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

impl Fingerprint {
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
