//! What a resolver needs of a catalog, held in memory (spec catalog-operator 3.2).
//!
//! A [`SnapshotBuilder`] takes the records of the registry protocol and gives a
//! [`CatalogSnapshot`]: entries with shared strings and indexes by package, channel, API and
//! label. Manifests are not kept; they are asked for when a bundle is installed. A
//! [`SnapshotSet`] joins snapshots of several catalogs into one
//! [`Universe`](olm_types::bundle::Universe). [`SnapshotSet::of_folder`] is the way from a folder to a
//! universe without a server.

mod builder;
mod catalog;
mod convert;
mod cost;
mod dependencies;
mod folder;
mod intern;
mod records;
mod set;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use builder::SnapshotBuilder;
pub use catalog::{CatalogSnapshot, ChannelSummary, PackageSummary, SkippedBundle};
pub use folder::FolderError;
pub use records::{Records, RecordsError};
pub use set::{Member, SnapshotSet};

/// Bounds of one snapshot. What exceeds them is refused as a whole: half a catalog would give
/// wrong resolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Most entries, that is bundles counted once per channel.
    pub entries: usize,
    /// Most bytes kept: distinct names, versions and properties, entries, channels, what is skipped,
    /// and the indexes.
    pub kept_bytes: usize,
    /// Most bytes of all decoded messages of one load together, manifests included.
    pub transfer_bytes: usize,
}

impl Default for SnapshotLimits {
    /// Several times what the largest published catalogs need.
    fn default() -> Self {
        Self { entries: 65_536, kept_bytes: 64 << 20, transfer_bytes: 1 << 30 }
    }
}

/// A catalog is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitExceeded {
    /// Too many entries.
    #[error(
        "the catalog has more than {0} channel entries: serve fewer bundles, or split the catalog"
    )]
    Entries(usize),
    /// Too much to keep.
    #[error(
        "names, properties and channels of the catalog exceed {0} bytes: serve fewer bundles, or \
         split the catalog"
    )]
    KeptBytes(usize),
    /// Too much to transfer.
    #[error("the bundles and packages of the catalog exceed {0} bytes: split the catalog")]
    TransferBytes(usize),
}
