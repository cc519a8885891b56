//! How large a catalog may be.

use thiserror::Error;

/// Bounds of one snapshot. What exceeds them is refused as a whole: half a catalog would give
/// wrong resolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Most entries, that is bundles counted once per channel.
    pub entries: usize,
    /// Most bytes of distinct text kept: names, versions, properties.
    pub text_bytes: usize,
    /// Most bytes of all messages of one listing, manifests included.
    pub transfer_bytes: usize,
}

impl Default for SnapshotLimits {
    /// Several times what the largest published catalogs need.
    fn default() -> Self {
        Self { entries: 65_536, text_bytes: 64 << 20, transfer_bytes: 1 << 30 }
    }
}

/// A catalog is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitExceeded {
    /// Too many entries.
    #[error("the catalog has more than {0} channel entries")]
    Entries(usize),
    /// Too much text to keep.
    #[error("names and properties of the catalog exceed {0} bytes")]
    TextBytes(usize),
    /// Too much to transfer.
    #[error("the list of bundles exceeds {0} bytes")]
    TransferBytes(usize),
}
