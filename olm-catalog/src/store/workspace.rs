//! The folder of one pull: locked while it is used, removed when it ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::space::{Reserved, Space};
use super::{INDEX, StoreError};

/// Name of the file that is locked.
const LOCK: &str = "lock";

/// A folder that no other pull uses.
#[derive(Debug)]
pub(super) struct Workspace {
    folder: TempDir,
    /// Locked until it is closed.
    _lock: File,
    reserved: Reserved,
}

impl Workspace {
    pub(super) fn new(parent: &Path, space: Arc<Space>) -> Result<Self, StoreError> {
        let folder = TempDir::new_in(parent).map_err(StoreError::at(parent))?;
        let path = folder.path().join(LOCK);
        let lock = File::create(&path).map_err(StoreError::at(&path))?;
        lock.lock().map_err(StoreError::at(&path))?;
        for part in ["layers", "files", "finished"] {
            let path = folder.path().join(part);
            fs::create_dir(&path).map_err(StoreError::at(&path))?;
        }
        Ok(Self { folder, _lock: lock, reserved: Reserved::new(space) })
    }

    /// Where layers are put.
    pub(super) fn layers(&self) -> PathBuf {
        self.folder.path().join("layers")
    }

    /// Where files of the catalog are put.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// What becomes the content.
    pub(super) fn finished(&self) -> PathBuf {
        self.folder.path().join("finished")
    }

    /// A file for the index, which can be read, too.
    pub(super) fn index(&self) -> Result<File, StoreError> {
        let path = self.finished().join(INDEX);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        options.open(&path).map_err(StoreError::at(&path))
    }

    /// Reserves bytes on the disk in place of what was reserved before.
    pub(super) fn reserve(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.reserved.set(bytes)
    }

    /// Removes one of the folders above.
    pub(super) fn remove(&self, folder: &Path) -> Result<(), StoreError> {
        fs::remove_dir_all(folder).map_err(StoreError::at(folder))
    }
}

/// Removes folders of pulls whose process ended.
pub(super) fn remove_abandoned(parent: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(parent).map_err(StoreError::at(parent))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let lock = File::open(path.join(LOCK));
        let is_used =
            lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
        if !is_used {
            fs::remove_dir_all(&path).map_err(StoreError::at(&path))?;
        }
    }
    Ok(())
}
