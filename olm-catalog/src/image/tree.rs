//! The files of an image, in memory.
//!
//! Paths have no `.`, no `..` and no slash at either end; the root is the empty path. Links are kept
//! as they are and followed inside the tree only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::LayerError;

/// Most names on the way to a file, those of links on the way included.
const NAMES: usize = 1_000;

/// The files of an image.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: BTreeMap<String, (Node, usize)>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Folder,
    File(Arc<[u8]>),
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

impl Tree {
    /// The content of a file, links followed.
    ///
    /// # Errors
    /// There is no file, or it was too large to be kept.
    pub fn file(&self, path: &str) -> Result<&[u8], Unreadable> {
        let real = self.real(path).map_err(|_| Unreadable::Absent)?;
        match self.nodes.get(&real) {
            Some((Node::File(content), _)) => Ok(content),
            Some((Node::Large(size), _)) => Err(Unreadable::Large(*size)),
            _ => Err(Unreadable::Absent),
        }
    }

    /// Whether there is a file at the path, links followed, read or not.
    pub fn is_file(&self, path: &str) -> bool {
        !matches!(self.file(path), Err(Unreadable::Absent))
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
        self.follow(path)
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
        let folders = self.nodes.iter().filter(|(_, (node, _))| *node == Node::Folder);
        std::iter::once("").chain(folders.map(|(path, _)| path.as_str()))
    }

    pub(super) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path).map(|(node, _)| node)
    }

    /// Puts something at a path of a layer. What was there goes, unless both are folders; folders
    /// on the way are made.
    pub(super) fn put(&mut self, path: &str, node: Node, layer: usize) {
        for (end, _) in path.match_indices('/') {
            let parent = path.get(..end).unwrap_or_default();
            if !matches!(self.node(parent), Some(Node::Folder)) {
                self.nodes.insert(parent.to_owned(), (Node::Folder, layer));
            }
        }
        if node != Node::Folder || !matches!(self.node(path), Some(Node::Folder)) {
            self.remove(path, usize::MAX);
        }
        self.nodes.insert(path.to_owned(), (node, layer));
    }

    /// Removes what is at a path and below, as far as it is from layers before this one.
    pub(super) fn remove(&mut self, path: &str, layer: usize) {
        if self.nodes.get(path).is_some_and(|(_, from)| *from < layer) {
            self.nodes.remove(path);
        }
        self.empty(path, layer);
    }

    /// Removes what is in a folder, as far as it is from layers before this one.
    pub(super) fn empty(&mut self, folder: &str, layer: usize) {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.nodes.range(start.clone()..);
        let below = below.take_while(|(path, _)| path.starts_with(&start));
        let gone: BTreeSet<String> =
            below.filter(|(_, (_, from))| *from < layer).map(|(path, _)| path.clone()).collect();
        gone.iter().for_each(|path| {
            self.nodes.remove(path);
        });
    }

    fn follow(&self, path: &str) -> Result<String, LayerError> {
        let mut real = String::new();
        let mut pending: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut names = 0;
        while let Some(name) = pending.pop() {
            names += 1;
            if names > NAMES {
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

/// Where the parent of a path ends; nothing for the root.
fn parent(path: &str) -> Option<usize> {
    (!path.is_empty()).then(|| path.rfind('/').unwrap_or(0))
}
