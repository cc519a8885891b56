//! The entries of one layer, and what they change.

use std::io::Read;

use tar::{Entry, EntryType};

use super::super::tree::{Node, Tree};
use super::super::{LayerError, Limits};
use super::extended::Extended;
use super::files::{FileLocation, Files};
use super::{Used, broken, raw_entries};

/// Start of the name of a file that says what is gone.
const WHITEOUT: &str = ".wh.";
/// Name of the file that says that a folder does not show what is below it.
const OPAQUE: &str = ".wh..wh..opq";

/// A layer that is being applied.
pub(super) struct Layer<'a, F: Files> {
    pub(super) tree: &'a mut Tree<F::Kept>,
    pub(super) used: &'a mut Used,
    pub(super) files: &'a mut F,
    pub(super) limits: &'a Limits,
}

impl<F: Files> Layer<'_, F> {
    pub(super) fn read(&mut self, content: &mut dyn Read) -> Result<(), LayerError> {
        let mut extended = Extended::default();
        raw_entries(content, |number, entry| {
            self.used.entries += 1;
            self.within(self.used.entries as u64, self.limits.entries as u64, "entries")?;
            if !extended.take(entry)? {
                self.entry(number, entry, std::mem::take(&mut extended))?;
            }
            Ok(true)
        })
    }

    fn within(&self, used: u64, limit: u64, unit: &'static str) -> Result<(), LayerError> {
        if used > limit { Err(LayerError::TooMuch { limit, unit }) } else { Ok(()) }
    }

    /// Counts names that were looked at.
    fn looked(&mut self, names: usize) -> Result<(), LayerError> {
        self.used.looks = self.used.looks.saturating_add(names);
        self.within(self.used.looks as u64, self.limits.looks as u64, "names on paths")
    }

    fn entry(
        &mut self,
        number: u32,
        entry: &mut Entry<'_, &mut dyn Read>,
        extended: Extended,
    ) -> Result<(), LayerError> {
        let path = extended.path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = self.place(&path)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with(WHITEOUT) {
            return self.white_out(&path);
        }
        let target =
            extended.link.or_else(|| entry.link_name_bytes().map(|link| link.into_owned()));
        let target = target.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let node = match entry.header().entry_type() {
            EntryType::Directory => Node::Folder,
            EntryType::Regular | EntryType::Continuous => self.file(number, entry, &path)?,
            EntryType::Symlink => self.link(&path, target.unwrap_or_default())?,
            EntryType::Link => self.linked(&path, &target.unwrap_or_default())?,
            kind => return Err(LayerError::Kind { path, kind: named(kind) }),
        };
        if path.is_empty() {
            return Ok(());
        }
        let looked = self.tree.put(&path, node, self.used.layers);
        self.looked(looked)?;
        self.within(self.tree.names(), self.limits.names, "bytes in names")
    }

    /// Where an entry goes: its own name in the folder that the rest of its path leads to.
    fn place(&mut self, path: &[u8]) -> Result<String, LayerError> {
        let refused = |why| {
            let path = String::from_utf8_lossy(path).chars().take(100).collect();
            LayerError::Path { path, why }
        };
        if path.len() > self.limits.path {
            return Err(refused("is too long"));
        }
        let text = std::str::from_utf8(path).map_err(|_| refused("is not UTF-8"))?;
        let names: Vec<_> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.contains(&"..") {
            return Err(LayerError::Outside(text.chars().take(100).collect()));
        }
        if names.len() > self.limits.depth {
            return Err(refused("is too deep"));
        }
        let Some((name, folders)) = names.split_last() else { return Ok(String::new()) };
        let mut looks = 0;
        let folder = self.tree.follow(&folders.join("/"), &mut looks)?;
        self.looked(looks)?;
        let real = if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") };
        // Links to what is deep, in what is deep, would have no end.
        if real.len() > self.limits.path || real.matches('/').count() >= self.limits.depth {
            return Err(refused("leads too deep"));
        }
        Ok(real)
    }

    fn white_out(&mut self, path: &str) -> Result<(), LayerError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let layer = self.used.layers;
        let looked = if name == OPAQUE {
            self.tree.empty(folder, layer)
        } else if let Some(gone) = name.strip_prefix(WHITEOUT) {
            let gone = if folder.is_empty() { gone.to_owned() } else { format!("{folder}/{gone}") };
            self.tree.remove(&gone, layer)
        } else {
            0
        };
        self.looked(looked)
    }

    fn file(
        &mut self,
        number: u32,
        entry: &mut Entry<'_, &mut dyn Read>,
        path: &str,
    ) -> Result<Node<F::Kept>, LayerError> {
        let size = entry.header().entry_size().map_err(broken)?;
        if size > self.limits.file {
            return Ok(Node::Large(size));
        }
        let layer = u32::try_from(self.used.layers.saturating_sub(1)).unwrap_or(u32::MAX);
        let place = FileLocation { layer, entry: number, size };
        Ok(Node::File(self.files.keep(path, place, entry, self.limits)?))
    }

    fn link(&self, path: &str, target: String) -> Result<Node<F::Kept>, LayerError> {
        if target.len() > self.limits.path {
            let why = "links to a path that is too long";
            return Err(LayerError::Path { path: path.to_owned(), why });
        }
        Ok(Node::Link(target))
    }

    /// A hard link is the same file under another name.
    fn linked(&mut self, path: &str, target: &str) -> Result<Node<F::Kept>, LayerError> {
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
