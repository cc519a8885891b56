//! How large a catalog may be.

use thiserror::Error;

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
    #[error("the catalog has more than {0} channel entries")]
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
