//! The files of an image: their names, and for each what is kept of it.
//!
//! Paths have no `.`, no `..` and no slash at either end; the root is the empty path. Links are kept
//! as they are and followed inside the tree only.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::LayerError;

/// Most names on the way to a file, those of links on the way included.
const NAMES: usize = 1_000;

/// What a node takes in memory beside its path and the target of its link, in bytes.
const NODE: u64 = 100;

/// The files of an image. `C` is what is kept of a file: its bytes, or where they are.
#[derive(Clone, Debug)]
pub struct Tree<C = Arc<[u8]>> {
    nodes: BTreeMap<String, (Node<C>, usize)>,
    /// What names take in memory, in bytes.
    names: u64,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node<C> {
    Folder,
    File(C),
    /// A file too large to be kept.
    Large(u64),
    /// A symbolic link.
    Link(String),
}

/// Why a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Nothing is there, or no file.
    Absent,
    /// It is larger than what is kept of an image.
    Large(u64),
}

/// Why the files of a folder cannot be listed.
#[cfg(any(feature = "server", feature = "store", test))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unlistable {
    /// One was too large to be kept: its path and size.
    Large(String, u64),
    /// Their names take more memory than they may, in bytes.
    Names(u64),
}

impl<C> Default for Tree<C> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new(), names: 0 }
    }
}

impl Tree {
    /// The content of a file, links followed.
    ///
    /// # Errors
    /// There is no file, or it was too large to be kept.
    pub fn file(&self, path: &str) -> Result<&[u8], Unreadable> {
        self.kept(path).map(|content| &**content)
    }
}

impl<C> Tree<C> {
    /// What is kept of a file, links followed.
    ///
    /// # Errors
    /// There is no file, or it was too large to be kept.
    pub fn kept(&self, path: &str) -> Result<&C, Unreadable> {
        let real = self.real(path).map_err(|_| Unreadable::Absent)?;
        match self.nodes.get(&real) {
            Some((Node::File(content), _)) => Ok(content),
            Some((Node::Large(size), _)) => Err(Unreadable::Large(*size)),
            _ => Err(Unreadable::Absent),
        }
    }

    /// Whether there is a file at the path, links followed, read or not.
    pub fn is_file(&self, path: &str) -> bool {
        !matches!(self.kept(path), Err(Unreadable::Absent))
    }

    /// Whether there is a folder at the path, links followed.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        let real = self.real(path).unwrap_or_else(|_| path.to_owned());
        real.is_empty() || matches!(self.nodes.get(&real), Some((Node::Folder, _)))
    }

    /// The path without links.
    ///
    /// # Errors
    /// A link leads out of the image, or links go round.
    pub fn real(&self, path: &str) -> Result<String, LayerError> {
        self.follow(path, &mut 0)
    }

    /// What names take in memory, in bytes.
    pub(super) fn names(&self) -> u64 {
        self.names
    }

    /// Names in a folder whose path has no links, sorted.
    pub fn children(&self, folder: &str) -> impl Iterator<Item = &str> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.nodes.range(start.clone()..);
        let below = below.take_while({
            let start = start.clone();
            move |(path, _)| path.starts_with(&start)
        });
        let skip = start.len();
        let names = below.filter_map(move |(path, _)| path.get(skip..));
        names.filter(|name| !name.is_empty() && !name.contains('/'))
    }

    /// Folders without links, in the order of their paths, the root first.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let folders = self.nodes.iter().filter(|(_, (node, _))| matches!(node, Node::Folder));
        std::iter::once("").chain(folders.map(|(path, _)| path.as_str()))
    }

    /// The files in a folder, whose path has no links, and in folders below, each with its path in the
    /// folder, in the order of these paths. Links to files are followed. Links to folders are left out: they would
    /// have to be followed without end. Names may take `names` bytes of memory.
    ///
    /// # Errors
    /// A file was too large to be kept, or there are too many names.
    #[cfg(any(feature = "server", feature = "store", test))]
    pub(crate) fn files_below(
        &self,
        folder: &str,
        names: u64,
    ) -> Result<Vec<(String, &C)>, Unlistable> {
        let (mut found, mut used) = (Vec::new(), 0_u64);
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        for path in self.nodes.range(below(folder)).map(|(path, _)| path) {
            match self.kept(path) {
                Ok(content) => {
                    let inside = path.get(start..).unwrap_or_default();
                    used = used.saturating_add(NODE).saturating_add(inside.len() as u64);
                    if used > names {
                        return Err(Unlistable::Names(names));
                    }
                    found.push((inside.to_owned(), content));
                }
                Err(Unreadable::Large(size)) => return Err(Unlistable::Large(path.clone(), size)),
                Err(Unreadable::Absent) => {}
            }
        }
        Ok(found)
    }

    pub(super) fn node(&self, path: &str) -> Option<&Node<C>> {
        self.nodes.get(path).map(|(node, _)| node)
    }

    /// Puts something at a path of a layer. What was there goes, unless both are folders; folders
    /// on the way are made. Returns how many names were looked at.
    pub(super) fn put(&mut self, path: &str, node: Node<C>, layer: usize) -> usize {
        for (end, _) in path.match_indices('/') {
            let parent = path.get(..end).unwrap_or_default();
            if !matches!(self.node(parent), Some(Node::Folder)) {
                self.insert(parent, Node::Folder, layer);
            }
        }
        let both = matches!((&node, self.node(path)), (Node::Folder, Some(Node::Folder)));
        let looked = if both { 0 } else { self.remove(path, usize::MAX) };
        self.insert(path, node, layer);
        looked
    }

    /// Removes what is at a path and below, as far as it is from layers before this one. Returns how
    /// many names were looked at.
    pub(super) fn remove(&mut self, path: &str, layer: usize) -> usize {
        if self.nodes.get(path).is_some_and(|(_, from)| *from < layer) {
            self.take(path);
        }
        self.empty(path, layer)
    }

    /// Removes what is in a folder, as far as it is from layers before this one. Returns how many
    /// names were looked at.
    pub(super) fn empty(&mut self, folder: &str, layer: usize) -> usize {
        let mut looked = 0;
        // One after the other: a copy of all their names could take as much memory as the tree.
        let gone = self.nodes.extract_if(below(folder), |_, (_, from)| {
            looked += 1;
            *from < layer
        });
        let freed =
            gone.fold(0_u64, |sum, (path, (node, _))| sum.saturating_add(taken(&path, &node)));
        self.names = self.names.saturating_sub(freed);
        looked
    }

    fn insert(&mut self, path: &str, node: Node<C>, layer: usize) {
        self.names = self.names.saturating_add(taken(path, &node));
        if let Some((before, _)) = self.nodes.insert(path.to_owned(), (node, layer)) {
            self.names = self.names.saturating_sub(taken(path, &before));
        }
    }

    fn take(&mut self, path: &str) {
        if let Some((node, _)) = self.nodes.remove(path) {
            self.names = self.names.saturating_sub(taken(path, &node));
        }
    }

    /// The path without links, and in `names` how many names were on the way.
    pub(super) fn follow(&self, path: &str, names: &mut usize) -> Result<String, LayerError> {
        let mut real = String::new();
        let mut pending: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        while let Some(name) = pending.pop() {
            *names += 1;
            if *names > NAMES || pending.len() > NAMES {
                return Err(LayerError::Circle(path.to_owned()));
            }
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    let parent =
                        parent(&real).ok_or_else(|| LayerError::Outside(path.to_owned()))?;
                    real.truncate(parent);
                    continue;
                }
                _ => {}
            }
            let next = if real.is_empty() { name } else { format!("{real}/{name}") };
            match self.node(&next) {
                Some(Node::Link(target)) => {
                    if target.starts_with('/') {
                        real.clear();
                    }
                    let target: Vec<_> = target.split('/').take(NAMES).collect();
                    pending.extend(target.into_iter().rev().map(str::to_owned));
                }
                _ => real = next,
            }
        }
        Ok(real)
    }
}

/// The paths below a folder: those that begin with it and a slash, which the character `0` follows.
fn below(folder: &str) -> (Bound<String>, Bound<String>) {
    if folder.is_empty() {
        return (Bound::Unbounded, Bound::Unbounded);
    }
    (Bound::Included(format!("{folder}/")), Bound::Excluded(format!("{folder}0")))
}

/// What a name takes in memory, in bytes.
fn taken<C>(path: &str, node: &Node<C>) -> u64 {
    let target = if let Node::Link(target) = node { target.len() } else { 0 };
    (path.len() as u64).saturating_add(target as u64).saturating_add(NODE)
}

/// Where the parent of a path ends; nothing for the root.
fn parent(path: &str) -> Option<usize> {
    (!path.is_empty()).then(|| path.rfind('/').unwrap_or(0))
}
