//! Who uses the folder: each process holds a lock on a file, together with others.

use std::fs::{File, TryLockError};
use std::path::Path;

/// Name of that file.
const FILE: &str = "in-use";

/// A process among those that use a folder, until this is dropped.
#[derive(Debug)]
pub(super) struct Users {
    /// Whether there was another one before it.
    pub(super) others: bool,
    _lock: Option<File>,
}

impl Users {
    /// Joins them. Where the file system knows no locks, there are no others as far as is known.
    pub(super) fn join(root: &Path) -> Self {
        let Ok(file) = File::create(root.join(FILE)) else {
            return Self { others: false, _lock: None };
        };
        let others = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        // Not for itself any more, so that those who come later find a lock and may have one, too.
        let _ = file.unlock();
        // Another one may hold it for itself for a moment, as above.
        let joined = file.lock_shared().is_ok();
        Self { others, _lock: joined.then_some(file) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_finds_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let first = Users::join(folder.path());
        let second = Users::join(folder.path());
        assert_eq!((first.others, second.others), (false, true));
        drop(first);
        assert!(Users::join(folder.path()).others, "the second is there");
        drop(second);
        assert!(!Users::join(folder.path()).others);
    }
}
