//! How much an image may be.

/// Bounds on one image. The default is far more than bundles need: their content has to fit into a
/// ConfigMap of one mebibyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Layers.
    pub layers: usize,
    /// Bytes of all layers as they are transferred.
    pub transferred: u64,
    /// Bytes of all layers, decompressed.
    pub unpacked: u64,
    /// Decompressed bytes for each transferred one, once there are more than [`Self::free`].
    pub ratio: u64,
    /// Decompressed bytes of a layer whose ratio does not matter.
    pub free: u64,
    /// Entries of all layers.
    pub entries: usize,
    /// Folders around a file.
    pub depth: usize,
    /// Bytes of a path.
    pub path: usize,
    /// Bytes of a file that is kept. A larger one may be there, and cannot be read.
    pub file: u64,
    /// Bytes of all files that are kept.
    pub kept: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            layers: 128,
            transferred: 128 << 20,
            unpacked: 512 << 20,
            ratio: 200,
            free: 16 << 20,
            entries: 20_000,
            depth: 64,
            path: 4_096,
            file: 8 << 20,
            kept: 64 << 20,
        }
    }
}
