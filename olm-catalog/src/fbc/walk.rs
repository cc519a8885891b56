//! Finds the files of a catalog, in the order of their paths.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::error::ReadError;
use super::ignore::{IGNORE_FILE, IgnoreRules};
use super::read::ReadLimits;

/// A file of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its path from the root of the catalog.
    pub(super) relative: Arc<Path>,
    /// What changes when the file changes: inode where there is one, size, time of the last change.
    stamp: (u64, u64, Option<SystemTime>),
}

impl SourceFile {
    /// Its size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.stamp.1
    }
}

/// Largest file of patterns, in bytes.
const IGNORE_BYTES: u64 = 1 << 20;

/// All files below `root`, or `root` itself when it is a file, that no `.indexignore` leaves out, sorted. Links are followed as long
/// as they stay below `root` and do not lead back to a folder above them.
pub(super) fn files(root: &Path, limits: &ReadLimits) -> Result<Vec<SourceFile>, ReadError> {
    let canonical = fs::canonicalize(root).map_err(|source| ReadError::io(root, source))?;
    let mut walk = Walk {
        root,
        above: vec![canonical],
        limits,
        files: Vec::new(),
        rules: IgnoreRules::default(),
        bytes: 0,
    };
    if root.is_file() {
        walk.entry(root.to_owned())?;
    } else {
        walk.folder(root)?;
    }
    let rules = walk.rules;
    walk.files.retain(|file| !rules.ignores(&file.relative));
    Ok(walk.files)
}

/// Whether Kubernetes put this into a projected volume to switch its content (`..data`); the files
/// that count are links to what is in there.
fn is_projection(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".."))
}

struct Walk<'a> {
    root: &'a Path,
    /// The folders that are being walked, links resolved; the root is the first.
    above: Vec<PathBuf>,
    limits: &'a ReadLimits,
    files: Vec<SourceFile>,
    rules: IgnoreRules,
    bytes: u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> Result<(), ReadError> {
        if self.above.len() > self.limits.depth.saturating_add(1) {
            return Err(ReadError::TooDeep(folder.to_owned(), self.limits.depth));
        }
        let failed = |source| ReadError::io(folder, source);
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        paths.retain(|path| !is_projection(path));
        paths.sort();
        paths.into_iter().try_for_each(|path| self.entry(path))
    }

    fn entry(&mut self, path: PathBuf) -> Result<(), ReadError> {
        let failed = |source| ReadError::io(&path, source);
        let target = fs::canonicalize(&path).map_err(failed)?;
        if !self.above.first().is_some_and(|root| target.starts_with(root)) {
            return Err(ReadError::Outside(path));
        }
        let metadata = fs::metadata(&target).map_err(failed)?;
        if metadata.is_dir() {
            if self.above.contains(&target) {
                return Err(ReadError::Loop(path));
            }
            self.above.push(target);
            self.folder(&path)?;
            self.above.pop();
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(ReadError::NoFile(path));
        }
        self.file(path, &metadata)
    }

    fn file(&mut self, path: PathBuf, metadata: &Metadata) -> Result<(), ReadError> {
        let bytes = metadata.len();
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > self.limits.file_bytes {
            return Err(ReadError::FileTooLarge(path, self.limits.file_bytes));
        }
        if self.bytes > self.limits.total_bytes {
            return Err(ReadError::TooLarge(self.limits.total_bytes));
        }
        if self.files.len() >= self.limits.files {
            return Err(ReadError::TooManyFiles(self.limits.files));
        }
        let below = path.strip_prefix(self.root).ok().filter(|below| below.file_name().is_some());
        let relative: Arc<Path> = below.or(path.file_name().map(Path::new)).unwrap_or(&path).into();
        if path.file_name().is_some_and(|name| name == IGNORE_FILE) {
            return self.patterns(&path, &relative, bytes);
        }
        let stamp = (inode(metadata), bytes, metadata.modified().ok());
        self.files.push(SourceFile { path, relative, stamp });
        Ok(())
    }

    fn patterns(&mut self, path: &Path, relative: &Path, bytes: u64) -> Result<(), ReadError> {
        if bytes > IGNORE_BYTES {
            return Err(ReadError::FileTooLarge(path.to_owned(), IGNORE_BYTES));
        }
        let text = fs::read(path).map_err(|source| ReadError::io(path, source))?;
        let folder = relative.parent().unwrap_or(Path::new(""));
        self.rules.add(folder, &String::from_utf8_lossy(&text));
        Ok(())
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
