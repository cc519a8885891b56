//! Catalogs in folders, kept in memory while their files stay as they are: each page of the console needs them, and
//! a catalog of thousands of bundles takes seconds to read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use olm_catalog::fbc::{ReadLimits, SourceStamp};
use olm_catalog::index::Index;
use olm_catalog::snapshot::CatalogSnapshot;
use olm_types::bundle::CatalogKey;

/// Most folders that are kept; the one that was not used for longest goes first.
const FOLDERS: usize = 16;

/// Most bytes of all their files; a folder that has more is read each time.
const BYTES: u64 = 512 << 20;

/// Folders that were read. Clones share them.
#[derive(Clone, Default)]
pub struct Folders(Arc<Mutex<Vec<CachedFolder>>>);

/// The catalog of a folder.
#[derive(Clone)]
pub(super) struct Folder {
    /// Asked for bundles.
    pub(super) index: Arc<Index>,
    /// What a resolver needs of it.
    pub(super) snapshot: Arc<CatalogSnapshot>,
}

/// A folder, with what its files were when it was read. The one that was used last is at the end.
struct CachedFolder {
    path: PathBuf,
    key: CatalogKey,
    stamp: SourceStamp,
    folder: Folder,
}

impl Folders {
    /// The catalog that a folder holds now. It is read only if its files have changed since the last time.
    ///
    /// # Errors
    /// It holds no valid catalog, or too much.
    pub(super) fn read(&self, key: &CatalogKey, path: &Path) -> Result<Folder> {
        let limits = ReadLimits::default();
        // Looked at before it is read: what changes meanwhile is a change for who comes next. What has no stamp is no
        // catalog either, which is said when it is read.
        let stamp = SourceStamp::of(path, &limits).ok();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|one| one.path == path);
        let known = place.map(|place| kept.remove(place));
        let folder = match known.filter(|known| Some(&known.stamp) == stamp.as_ref()) {
            Some(known) if known.key == *key => known.folder,
            Some(known) => Folder::of(key, known.folder.index)?,
            None => Folder::of(key, Arc::new(Index::build(path, &limits, None)?))?,
        };
        if let Some(stamp) = stamp {
            let (path, key) = (path.to_owned(), key.clone());
            kept.push(CachedFolder { path, key, stamp, folder: folder.clone() });
            thin_out(&mut kept, BYTES);
        }
        Ok(folder)
    }
}

impl Folder {
    fn of(key: &CatalogKey, index: Arc<Index>) -> Result<Self> {
        let snapshot = Arc::new(CatalogSnapshot::of_index(key.clone(), &index)?);
        Ok(Self { index, snapshot })
    }
}

/// Drops what was not used for longest, beyond so many bytes; a folder that has more takes the place of no other.
fn thin_out(kept: &mut Vec<CachedFolder>, most: u64) {
    kept.retain(|one| one.stamp.bytes() <= most);
    let mut bytes: u64 = 0;
    let fits = |one: &&CachedFolder| {
        bytes = bytes.saturating_add(one.stamp.bytes());
        bytes <= most
    };
    let fitting = kept.iter().rev().take(FOLDERS).take_while(fits).count();
    let beyond = kept.len().saturating_sub(fitting);
    kept.drain(..beyond);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn key() -> CatalogKey {
        CatalogKey::new("ns", "c")
    }

    fn write(folder: &Path, version: &str) {
        let text = format!(
            r#"{{"schema": "olm.package", "name": "tea", "defaultChannel": "stable"}}
            {{"schema": "olm.channel", "name": "stable", "package": "tea", "entries": [{{"name": "tea.v{version}"}}]}}
            {{"schema": "olm.bundle", "name": "tea.v{version}", "package": "tea", "image": "tea:1", "properties": [
                {{"type": "olm.package", "value": {{"packageName": "tea", "version": "{version}"}}}}]}}"#
        );
        fs::write(folder.join("catalog.json"), text).unwrap();
    }

    fn catalog() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "1.0.0");
        folder
    }

    fn heads(folder: &Folder) -> Vec<String> {
        folder.snapshot.entries().iter().map(|entry| entry.name.to_string()).collect()
    }

    #[test]
    fn a_folder_is_read_again_when_a_file_has_changed() {
        let (folders, catalog) = (Folders::default(), catalog());
        let read = || folders.clone().read(&key(), catalog.path()).unwrap();
        let first = read();
        assert_eq!(heads(&first), ["tea.v1.0.0"]);
        let second = read();
        assert!(Arc::ptr_eq(&first.index, &second.index), "it was read twice");
        assert!(Arc::ptr_eq(&first.snapshot, &second.snapshot), "it was read twice");
        write(catalog.path(), "1.10.0");
        assert_eq!(heads(&read()), ["tea.v1.10.0"]);
        fs::remove_file(catalog.path().join("catalog.json")).unwrap();
        assert!(folders.read(&key(), &catalog.path().join("none")).is_err());
        let left = folders.read(&key(), catalog.path()).map(|found| heads(&found));
        assert!(left.unwrap_or_default().is_empty(), "what is gone is kept");
    }

    #[test]
    fn a_folder_may_be_another_catalog_elsewhere() {
        let (folders, catalog) = (Folders::default(), catalog());
        let first = folders.read(&key(), catalog.path()).unwrap();
        let other = CatalogKey::new("other", "c");
        let second = folders.read(&other, catalog.path()).unwrap();
        assert_eq!((first.snapshot.key(), second.snapshot.key()), (&key(), &other));
        assert!(Arc::ptr_eq(&first.index, &second.index), "its files are read once");
    }

    #[test]
    fn the_folder_that_was_not_used_for_longest_goes() {
        let folders = Folders::default();
        let catalogs: Vec<TempDir> = (0..=FOLDERS).map(|_| catalog()).collect();
        let index = |place: usize| folders.read(&key(), catalogs[place].path()).unwrap().index;
        let first: Vec<Arc<Index>> = (0..FOLDERS).map(index).collect();
        assert!(Arc::ptr_eq(&first[0], &index(0)), "it is kept, and was used last");
        index(FOLDERS);
        assert!(Arc::ptr_eq(&first[0], &index(0)));
        assert!(!Arc::ptr_eq(&first[1], &index(1)), "there was one too many");
    }

    #[test]
    fn a_folder_that_is_too_large_takes_the_place_of_no_other() {
        let (folders, small, large) = (Folders::default(), catalog(), catalog());
        write(large.path(), "1.0.0-alpha");
        for catalog in [&small, &large] {
            folders.read(&key(), catalog.path()).unwrap();
        }
        let mut kept = folders.0.lock().unwrap();
        let most = kept[0].stamp.bytes();
        thin_out(&mut kept, most);
        assert_eq!(kept.iter().map(|one| one.path.as_path()).collect::<Vec<_>>(), [small.path()]);
    }
}
