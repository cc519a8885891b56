//! What changes when a file of a catalog does, without a look into any: for programs that keep what they have read.

use std::path::Path;

use super::error::ReadError;
use super::read::ReadLimits;
use super::walk::{SourceFile, files};

/// The files of a catalog, each with its inode, size and time of the last change. What was read of files with an equal
/// stamp is what they hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStamp(Vec<SourceFile>);

impl SourceStamp {
    /// The stamp of the catalog below `root` now.
    ///
    /// # Errors
    /// A folder cannot be read, or a limit is exceeded.
    pub fn of(root: &Path, limits: &ReadLimits) -> Result<Self, ReadError> {
        files(root, limits).map(Self)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.0.iter().fold(0, |all, file| all.saturating_add(file.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_stamp_changes_with_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = || SourceStamp::of(folder.path(), &ReadLimits::default()).unwrap();
        fs::write(folder.path().join("a.json"), "{}").unwrap();
        let first = stamp();
        assert_eq!((&first, first.bytes()), (&stamp(), 2));
        fs::write(folder.path().join("b.json"), "{}").unwrap();
        let second = stamp();
        assert_ne!(second, first);
        fs::write(folder.path().join("a.json"), "{ }").unwrap();
        assert_ne!(stamp(), second);
    }
}
