//! How much an image may be.

use std::time::Instant;

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
    /// Bytes of memory for the names of all files.
    pub names: u64,
    /// Names looked at while layers are applied: those on the way to each entry, links followed, and
    /// those of what an entry replaces.
    pub looks: usize,
    /// Bytes of a file that is kept. A larger one may be there, and cannot be read.
    pub file: u64,
    /// Bytes of all files that are kept.
    pub kept: u64,
    /// When reading layers ends, whatever was read by then.
    pub until: Option<Instant>,
}

impl Limits {
    /// Bounds on the image of a catalog that is kept on a disk: a program may be in it, and catalogs
    /// are large. Reading one takes 32 MiB of memory at most: for names, for the window of zstd, which is two
    /// windows for a moment when frames have windows of different sizes, and for the names of the catalog's files.
    pub const CATALOG: Self = Self {
        layers: 128,
        transferred: 1 << 30,
        unpacked: 4 << 30,
        ratio: 200,
        free: 16 << 20,
        entries: 100_000,
        depth: 64,
        path: 4_096,
        names: 16 << 20,
        looks: 2_000_000,
        file: 256 << 20,
        kept: 512 << 20,
        until: None,
    };

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }
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
            names: 16 << 20,
            looks: 2_000_000,
            file: 8 << 20,
            kept: 64 << 20,
            until: None,
        }
    }
}
