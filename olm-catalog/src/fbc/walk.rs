//! Finds the files of a catalog, in the order of their paths.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ReadError;

/// Bounds of reading a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
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
            file_bytes: 256 << 20,
            total_bytes: 2 << 30,
            files: 100_000,
            depth: 32,
            blobs: 500_000,
            errors: 100,
        }
    }
}

/// All files below `root`, sorted. Links to files are followed as long as they stay below `root`;
/// links to folders are not.
pub(super) fn files(root: &Path, limits: &ReadLimits) -> Result<Vec<PathBuf>, ReadError> {
    let canonical = fs::canonicalize(root).map_err(|source| ReadError::io(root, source))?;
    let mut walk = Walk { root: canonical, limits, files: Vec::new(), bytes: 0 };
    walk.folder(root, 0)?;
    Ok(walk.files)
}

struct Walk<'a> {
    root: PathBuf,
    limits: &'a ReadLimits,
    files: Vec<PathBuf>,
    bytes: u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), ReadError> {
        if depth > self.limits.depth {
            return Err(ReadError::TooDeep(folder.to_owned(), self.limits.depth));
        }
        let failed = |source| ReadError::io(folder, source);
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        paths.sort();
        paths.into_iter().try_for_each(|path| self.entry(path, depth))
    }

    fn entry(&mut self, path: PathBuf, depth: usize) -> Result<(), ReadError> {
        let failed = |source| ReadError::io(&path, source);
        let own = fs::symlink_metadata(&path).map_err(failed)?;
        if own.is_dir() {
            return self.folder(&path, depth + 1);
        }
        let target = fs::metadata(&path).map_err(failed)?;
        if target.is_dir() {
            return Ok(());
        }
        let inside = fs::canonicalize(&path).map_err(failed)?.starts_with(&self.root);
        if !inside {
            return Err(ReadError::Outside(path));
        }
        self.file(path, target.len())
    }

    fn file(&mut self, path: PathBuf, bytes: u64) -> Result<(), ReadError> {
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
        self.files.push(path);
        Ok(())
    }
}
