//! Which content a CatalogSource has, and which it had before.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use olm_types::bundle::CatalogKey;
use olm_types::document::{Budget, json_as};
use olm_types::hash::sha256_hex;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{ContentKey, StoreError};

/// A content, and what it was pulled for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredContent {
    /// The image as the CatalogSource names it.
    pub image: String,
    /// The digest that it had.
    pub digest: String,
    /// The folder that the CatalogSource names, if it does.
    pub folder: Option<String>,
}

/// The content of a CatalogSource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// What it has.
    pub current: StoredContent,
    /// What it had before.
    pub previous: Option<StoredContent>,
}

/// The same as a file has it.
#[derive(Serialize, Deserialize)]
struct Record {
    namespace: String,
    name: String,
    #[serde(flatten)]
    content: Recorded,
}

/// The records of all CatalogSources, a file for each.
pub(super) struct Records(PathBuf);

impl StoredContent {
    /// Its key in a store.
    pub fn key(&self) -> ContentKey {
        ContentKey::of(&self.digest, self.folder.as_deref())
    }
}

impl Recorded {
    /// Whether this is a content that it has, or had before.
    pub fn names(&self, content: &ContentKey) -> bool {
        let all = [Some(&self.current), self.previous.as_ref()];
        all.into_iter().flatten().any(|held| held.key() == *content)
    }
}

impl Records {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(super) fn get(&self, catalog: &CatalogKey) -> Option<Recorded> {
        let (of, recorded) = read(&self.path(catalog))?;
        (of == *catalog).then_some(recorded)
    }

    pub(super) fn set(
        &self,
        catalog: &CatalogKey,
        current: &StoredContent,
    ) -> Result<(), StoreError> {
        let before = self.get(catalog);
        if before.as_ref().is_some_and(|before| before.current == *current) {
            return Ok(());
        }
        // The same content under another name is no other content.
        let previous = before.map(|before| match before.current.key() == current.key() {
            true => before.previous,
            false => Some(before.current),
        });
        let record = Record {
            namespace: catalog.namespace.to_string(),
            name: catalog.name.to_string(),
            content: Recorded { current: current.clone(), previous: previous.flatten() },
        };
        let path = self.path(catalog);
        let write = || {
            let mut file = NamedTempFile::new_in(&self.0)?;
            file.write_all(&serde_json::to_vec(&record)?)?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(StoreError::at(&path))
    }

    /// Removes records of CatalogSources that do not exist, and what is no record; returns all content
    /// that the others name.
    pub(super) fn collect(
        &self,
        exists: impl Fn(&CatalogKey) -> bool,
    ) -> Result<BTreeSet<ContentKey>, StoreError> {
        let entries = fs::read_dir(&self.0).map_err(StoreError::at(&self.0))?;
        let mut kept = BTreeSet::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            match read(&path).filter(|(catalog, _)| exists(catalog)) {
                Some((_, recorded)) => {
                    kept.insert(recorded.current.key());
                    kept.extend(recorded.previous.map(|previous| previous.key()));
                }
                None => fs::remove_file(&path).map_err(StoreError::at(&path))?,
            }
        }
        Ok(kept)
    }

    /// Names of namespaces and objects together may be longer than that of a file.
    fn path(&self, catalog: &CatalogKey) -> PathBuf {
        self.0.join(format!("{}.json", sha256_hex(catalog.to_string())))
    }
}

fn read(path: &Path) -> Option<(CatalogKey, Recorded)> {
    let record: Record = json_as(&fs::read(path).ok()?, &Budget::PROPERTY).ok()?;
    Some((CatalogKey::new(&record.namespace, &record.name), record.content))
}
