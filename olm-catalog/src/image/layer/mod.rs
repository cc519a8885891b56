//! From a layer to files.
//!
//! A layer is a tar archive of what changed (OCI image specification, "Image Layer Filesystem
//! Changeset"). Extended headers are read here, not by the library, whose memory they would decide.

mod bounded;
mod compression;
mod entries;
mod extended;
mod files;

use std::io::{BufRead, Read};

use tar::Archive;

use super::tree::Tree;
use super::{LayerError, Limits};
use bounded::Bounded;
use entries::Layer;

pub use compression::Compression;
pub use files::FileLocation;
pub(super) use files::{Files, InMemory, Places};

/// What all layers of an image have used up.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    layers: usize,
    unpacked: u64,
    entries: usize,
    looks: usize,
}

/// An image in the making.
#[derive(Debug)]
pub(super) struct Applied<F: Files> {
    pub(super) tree: Tree<F::Kept>,
    used: Used,
    files: F,
}

impl<F: Files + Default> Default for Applied<F> {
    fn default() -> Self {
        Self { tree: Tree::default(), used: Used::default(), files: F::default() }
    }
}

/// Applies layers to an image, lowest first.
///
/// # Errors
/// A layer is no archive, holds too much, or something that no image should hold.
pub fn apply<'a>(
    layers: impl IntoIterator<Item = (&'a [u8], Compression)>,
    limits: &Limits,
) -> Result<Tree, LayerError> {
    let mut applied = Applied::<InMemory>::default();
    for (layer, compression) in layers {
        applied.add(layer, layer.len() as u64, compression, limits)?;
    }
    Ok(applied.tree)
}

impl<F: Files> Applied<F> {
    /// Applies one layer, of `size` bytes as it was transferred.
    pub(super) fn add(
        &mut self,
        layer: impl BufRead,
        size: u64,
        compression: Compression,
        limits: &Limits,
    ) -> Result<(), LayerError> {
        self.used.layers += 1;
        let total = self.used.unpacked;
        let (read, unpacked) = bounded(layer, size, compression, total, limits, |content| {
            let Self { tree, used, files } = self;
            Layer { tree, used, files, limits }.read(content)
        });
        self.used.unpacked = unpacked;
        read
    }
}

/// Has `read` read what is in a layer, within the limits; `total` bytes came out of others before.
/// Also returns how many bytes came out of all of them.
pub(super) fn bounded<T>(
    layer: impl BufRead,
    size: u64,
    compression: Compression,
    total: u64,
    limits: &Limits,
    read: impl FnOnce(&mut dyn Read) -> Result<T, LayerError>,
) -> (Result<T, LayerError>, u64) {
    let mut content = compression.reader(layer);
    let mut bounded = Bounded::new(&mut content, size, total, limits);
    let read = read(&mut bounded);
    // Why reading was stopped explains more than that it was.
    let (unpacked, stopped) = bounded.end();
    (stopped.map_or(read, Err), unpacked)
}

/// Reads the entries of an archive, headers about other entries included, with their numbers, until
/// `visit` wants no more.
pub(super) fn raw_entries(
    content: &mut dyn Read,
    mut visit: impl FnMut(u32, &mut tar::Entry<'_, &mut dyn Read>) -> Result<bool, LayerError>,
) -> Result<(), LayerError> {
    let mut archive = Archive::new(content);
    for (number, entry) in (0..).zip(archive.entries().map_err(broken)?.raw(true)) {
        if !visit(number, &mut entry.map_err(broken)?)? {
            break;
        }
    }
    Ok(())
}

fn broken(error: std::io::Error) -> LayerError {
    LayerError::Archive(error.to_string())
}
