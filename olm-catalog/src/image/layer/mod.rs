//! From a layer to files.
//!
//! A layer is a tar archive of what changed (OCI image specification, "Image Layer Filesystem
//! Changeset"). Extended headers are read here, not by the library, whose memory they would decide.

mod bounded;
mod extended;

use std::io::Read;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::tree::{Node, Tree};
use super::{LayerError, Limits};
use bounded::Bounded;
use extended::Extended;

/// Start of the name of a file that says what is gone.
const WHITEOUT: &str = ".wh.";
/// Name of the file that says that a folder does not show what is below it.
const OPAQUE: &str = ".wh..wh..opq";

/// How a layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
}

/// What all layers of an image have used up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) layers: usize,
    pub(super) unpacked: u64,
    entries: usize,
    kept: u64,
}

/// Applies layers to an image, lowest first.
///
/// # Errors
/// A layer is no archive, holds too much, or something that no image should hold.
pub fn apply<'a>(
    layers: impl IntoIterator<Item = (&'a [u8], Compression)>,
    limits: &Limits,
) -> Result<Tree, LayerError> {
    let (mut tree, mut used) = (Tree::default(), Used::default());
    for (layer, compression) in layers {
        apply_one(&mut tree, &mut used, layer, compression, limits)?;
    }
    Ok(tree)
}

/// Applies one layer.
pub(super) fn apply_one(
    tree: &mut Tree,
    used: &mut Used,
    layer: &[u8],
    compression: Compression,
    limits: &Limits,
) -> Result<(), LayerError> {
    used.layers += 1;
    let mut content: Box<dyn Read + '_> = match compression {
        Compression::None => Box::new(layer),
        Compression::Gzip => Box::new(MultiGzDecoder::new(layer)),
    };
    let mut bounded = Bounded::new(&mut content, layer.len() as u64, used.unpacked, limits);
    let applied = Layer { tree, used, limits }.read(&mut bounded);
    // Why reading was stopped explains more than that it was.
    let (unpacked, stopped) = bounded.end();
    used.unpacked = unpacked;
    stopped.map_or(applied, Err)
}

struct Layer<'a> {
    tree: &'a mut Tree,
    used: &'a mut Used,
    limits: &'a Limits,
}

impl Layer<'_> {
    fn read(&mut self, content: &mut dyn Read) -> Result<(), LayerError> {
        let mut archive = Archive::new(content);
        let mut extended = Extended::default();
        for entry in archive.entries().map_err(broken)?.raw(true) {
            let mut entry = entry.map_err(broken)?;
            self.used.entries += 1;
            if self.used.entries > self.limits.entries {
                let limit = self.limits.entries as u64;
                return Err(LayerError::TooMuch { limit, unit: "entries" });
            }
            if !extended.take(&mut entry)? {
                self.entry(&mut entry, std::mem::take(&mut extended))?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &mut Entry<'_, &mut dyn Read>,
        extended: Extended,
    ) -> Result<(), LayerError> {
        let path = extended.path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = self.place(&path)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with(WHITEOUT) {
            self.white_out(&path);
            return Ok(());
        }
        let target =
            extended.link.or_else(|| entry.link_name_bytes().map(|link| link.into_owned()));
        let target = target.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let node = match entry.header().entry_type() {
            EntryType::Directory => Node::Folder,
            EntryType::Regular | EntryType::Continuous => self.file(entry, &path)?,
            EntryType::Symlink => self.link(&path, target.unwrap_or_default())?,
            EntryType::Link => self.linked(&path, &target.unwrap_or_default())?,
            kind => return Err(LayerError::Kind { path, kind: named(kind) }),
        };
        if !path.is_empty() {
            self.tree.put(&path, node, self.used.layers);
        }
        Ok(())
    }

    /// Where an entry goes: its own name in the folder that the rest of its path leads to.
    fn place(&self, path: &[u8]) -> Result<String, LayerError> {
        let shown = || String::from_utf8_lossy(path).chars().take(100).collect::<String>();
        let refused = |why| LayerError::Path { path: shown(), why };
        if path.len() > self.limits.path {
            return Err(refused("is too long"));
        }
        let text = std::str::from_utf8(path).map_err(|_| refused("is not UTF-8"))?;
        let names: Vec<_> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.contains(&"..") {
            return Err(LayerError::Outside(shown()));
        }
        if names.len() > self.limits.depth {
            return Err(refused("is too deep"));
        }
        let Some((name, folders)) = names.split_last() else { return Ok(String::new()) };
        let folder = self.tree.real(&folders.join("/"))?;
        Ok(if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") })
    }

    fn white_out(&mut self, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let layer = self.used.layers;
        if name == OPAQUE {
            self.tree.empty(folder, layer);
        } else if let Some(gone) = name.strip_prefix(WHITEOUT) {
            let gone = if folder.is_empty() { gone.to_owned() } else { format!("{folder}/{gone}") };
            self.tree.remove(&gone, layer);
        }
    }

    fn file(
        &mut self,
        entry: &mut Entry<'_, &mut dyn Read>,
        path: &str,
    ) -> Result<Node, LayerError> {
        let size = entry.header().entry_size().map_err(broken)?;
        if size > self.limits.file {
            return Ok(Node::Large(size));
        }
        self.used.kept = self.used.kept.saturating_add(size);
        if self.used.kept > self.limits.kept {
            return Err(LayerError::TooMuch { limit: self.limits.kept, unit: "bytes in files" });
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(broken)?;
        if content.len() as u64 != size {
            return Err(LayerError::Archive(format!("{path} is cut off")));
        }
        Ok(Node::File(Arc::from(content)))
    }

    fn link(&self, path: &str, target: String) -> Result<Node, LayerError> {
        if target.len() > self.limits.path {
            let why = "links to a path that is too long";
            return Err(LayerError::Path { path: path.to_owned(), why });
        }
        Ok(Node::Link(target))
    }

    /// A hard link is the same file under another name.
    fn linked(&self, path: &str, target: &str) -> Result<Node, LayerError> {
        let place = self.place(target.as_bytes())?;
        match self.tree.node(&place) {
            Some(node @ (Node::File(_) | Node::Large(_))) => Ok(node.clone()),
            _ => Err(LayerError::Dangling { path: path.to_owned(), target: target.to_owned() }),
        }
    }
}

fn named(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown kind",
    }
}

fn broken(error: std::io::Error) -> LayerError {
    LayerError::Archive(error.to_string())
}
