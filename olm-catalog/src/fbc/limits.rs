//! Bounds of reading a catalog.

/// Bounds of reading a catalog. Memory is bounded by `blob_bytes`; the others bound time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Largest document, in bytes.
    pub blob_bytes: usize,
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// All files together, in bytes.
    pub total_bytes: u64,
    /// Most files.
    pub files: usize,
    /// Most nested folders.
    pub depth: usize,
    /// Most blobs.
    pub blobs: usize,
    /// Most errors that are collected before reading stops.
    pub errors: usize,
}

impl Default for ReadLimits {
    /// Several times what the largest published catalogs need.
    fn default() -> Self {
        Self {
            blob_bytes: 64 << 20,
            file_bytes: 2 << 30,
            total_bytes: 4 << 30,
            files: 100_000,
            depth: 32,
            blobs: 500_000,
            errors: 100,
        }
    }
}
