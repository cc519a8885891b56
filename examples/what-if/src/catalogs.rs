//! A folder of file-based catalogs as what a resolver sees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use olm_catalog::snapshot::{CatalogSnapshot, Member, SnapshotSet};
use olm_types::bundle::CatalogKey;

/// The catalogs below `folder`, in folders `NAMESPACE/NAME`. Those without a priority have 0.
///
/// # Errors
/// A folder cannot be read, or is no valid catalog.
pub fn universe(folder: &Path, priorities: &BTreeMap<CatalogKey, i64>) -> Result<SnapshotSet> {
    let mut members = Vec::new();
    for (namespace, folder) in folders(folder)? {
        for (name, folder) in folders(&folder)? {
            let key = CatalogKey::new(&namespace, &name);
            let snapshot = CatalogSnapshot::of_folder(key.clone(), &folder)
                .with_context(|| format!("cannot use the catalog {key}"))?;
            let priority = priorities.get(&key).copied().unwrap_or_default();
            members.push(Member { key, priority, content: Ok(Arc::new(snapshot)) });
        }
    }
    Ok(SnapshotSet::new(members))
}

/// Name and path of the folders in a folder.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let cannot_read = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot_read)? {
        let entry = entry.with_context(cannot_read)?;
        if entry.path().is_dir() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    Ok(found)
}
