//! The records of a listing as bytes, so that a catalog whose content has a digest is asked once.
//!
//! A record is a byte that says what it is, its length, and a message of the registry protocol without
//! manifests. The end has a byte of its own: what was cut off is noticed.

use prost::Message;
use thiserror::Error;

use olm_types::bundle::CatalogKey;

use super::{CatalogSnapshot, LimitExceeded, SnapshotBuilder, SnapshotLimits};
use crate::registry::proto;

/// What the bytes begin with. Another form gets another number.
const BEGINNING: &[u8] = b"olm catalog records 1\n";

const BUNDLE: u8 = b'b';
const PACKAGE: u8 = b'p';
const END: u8 = b'e';

/// Why bytes are no catalog.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// They begin or end as no catalog does, or a record is cut off.
    #[error("these are no records of a catalog, or not all of them")]
    Malformed,
    /// A record is no message.
    #[error("a record cannot be read: {0}")]
    Message(#[from] prost::DecodeError),
    /// There is more than a snapshot may hold.
    #[error(transparent)]
    TooLarge(#[from] LimitExceeded),
}

/// The records of one catalog, in the order in which they were given.
#[derive(Clone, Debug)]
pub struct Records {
    bytes: Vec<u8>,
    is_complete: bool,
}

impl Default for Records {
    fn default() -> Self {
        Self { bytes: BEGINNING.to_vec(), is_complete: true }
    }
}

impl Records {
    /// A bundle of the listing. Its manifests are left out: they are asked for when they are needed.
    pub fn bundle(&mut self, bundle: &proto::Bundle) {
        let listed =
            proto::Bundle { csv_json: String::new(), object: Vec::new(), ..bundle.clone() };
        self.push(BUNDLE, &listed);
    }

    /// What was answered about the package of that name. Records of a catalog that refused an answer are
    /// of no use.
    pub fn package<E>(&mut self, name: &str, answer: &Result<proto::Package, E>) {
        match answer {
            Ok(found) => {
                self.push(PACKAGE, &proto::Package { name: name.to_owned(), ..found.clone() });
            }
            Err(_) => self.is_complete = false,
        }
    }

    /// The bytes, if nothing was refused.
    #[must_use]
    pub fn finish(mut self) -> Option<Vec<u8>> {
        self.bytes.push(END);
        self.is_complete.then_some(self.bytes)
    }

    fn push(&mut self, kind: u8, message: &impl Message) {
        self.bytes.push(kind);
        // A vector grows with every message.
        let _ = message.encode_length_delimited(&mut self.bytes);
    }
}

impl CatalogSnapshot {
    /// The snapshot of the catalog `key` that [`Records`] were made of.
    ///
    /// # Errors
    /// The bytes are something else, or hold more than `limits` allow.
    pub fn of_records(
        key: CatalogKey,
        bytes: &[u8],
        limits: SnapshotLimits,
    ) -> Result<Self, RecordsError> {
        let mut builder = SnapshotBuilder::new(key, limits);
        let mut left = bytes.strip_prefix(BEGINNING).ok_or(RecordsError::Malformed)?;
        loop {
            let (kind, rest) = left.split_first().ok_or(RecordsError::Malformed)?;
            left = rest;
            match *kind {
                BUNDLE => builder.add(&proto::Bundle::decode_length_delimited(&mut left)?)?,
                PACKAGE => {
                    let package = proto::Package::decode_length_delimited(&mut left)?;
                    builder.add_package(package.name.as_str().into(), Ok(package))?;
                }
                END if left.is_empty() => return Ok(builder.finish()),
                _ => return Err(RecordsError::Malformed),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> proto::Bundle {
        proto::Bundle {
            csv_name: "a.v1".to_owned(),
            package_name: "a".to_owned(),
            channel_name: "stable".to_owned(),
            version: "1.0.0".to_owned(),
            csv_json: "{}".to_owned(),
            object: vec!["{}".to_owned()],
            ..proto::Bundle::default()
        }
    }

    fn package() -> Result<proto::Package, ()> {
        Ok(proto::Package { name: "a".to_owned(), ..proto::Package::default() })
    }

    fn read(bytes: &[u8]) -> Result<CatalogSnapshot, RecordsError> {
        CatalogSnapshot::of_records(CatalogKey::new("n", "c"), bytes, SnapshotLimits::default())
    }

    #[test]
    fn what_was_recorded_is_read_again() {
        let mut records = Records::default();
        records.bundle(&bundle());
        records.package("a", &package());
        let bytes = records.finish().unwrap();
        let mut builder =
            SnapshotBuilder::new(CatalogKey::new("n", "c"), SnapshotLimits::default());
        builder.add(&bundle()).unwrap();
        builder.add_package("a".into(), package().map_err(|()| String::new())).unwrap();
        assert!(read(&bytes).unwrap().has_content_of(&builder.finish()));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "cut off after {end} bytes");
        }
    }

    #[test]
    fn an_answer_that_was_refused_makes_records_useless() {
        let mut records = Records::default();
        records.package("a", &package());
        records.package("b", &Err::<proto::Package, _>(()));
        assert_eq!(records.finish(), None);
    }

    #[test]
    fn limits_count_for_records_too() {
        let mut records = Records::default();
        records.bundle(&bundle());
        let bytes = records.finish().unwrap();
        let limits = SnapshotLimits { entries: 0, ..SnapshotLimits::default() };
        let read = CatalogSnapshot::of_records(CatalogKey::new("n", "c"), &bytes, limits);
        assert!(matches!(read, Err(RecordsError::TooLarge(LimitExceeded::Entries(0)))));
    }
}
