//! Catalogs that flags name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use olm_types::bundle::CatalogKey;

use super::folders::Folders;
use super::place::{CatalogLocation, server};
use super::visible::Visible;

/// The catalogs of one flag: `[NAMESPACE/]NAME=HOST:PORT`, `[NAMESPACE/]NAME=FOLDER`, or a folder with
/// folders `NAMESPACE/NAME`.
///
/// # Errors
/// It has another form, or a folder holds no valid catalog.
pub(super) fn parse(
    flag: &str,
    visible: &Visible,
    read: &Folders,
) -> Result<Vec<(CatalogKey, CatalogLocation)>> {
    let Some((name, place)) = flag.split_once('=') else {
        return folders(Path::new(flag), read);
    };
    let key = visible.key_of_flag(name);
    let is_folder = Path::new(place).is_dir();
    let place =
        if is_folder { folder(&key, Path::new(place), read)? } else { server(&key, place)? };
    Ok(vec![(key, place)])
}

fn folder(key: &CatalogKey, folder: &Path, read: &Folders) -> Result<CatalogLocation> {
    let folder = read.read(key, folder);
    folder.map(CatalogLocation::Folder).with_context(|| format!("cannot use the catalog {key}"))
}

/// Catalogs in folders `NAMESPACE/NAME`.
fn folders(all: &Path, read: &Folders) -> Result<Vec<(CatalogKey, CatalogLocation)>> {
    let mut found = Vec::new();
    for (namespace, below) in children(all)? {
        for (name, path) in children(&below)? {
            let key = CatalogKey::new(&namespace, &name);
            let place = folder(&key, &path, read)?;
            found.push((key, place));
        }
    }
    if found.is_empty() {
        bail!("{} has no folders NAMESPACE/NAME with catalogs", all.display());
    }
    Ok(found)
}

fn children(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let cannot_read = || format!("cannot read the folder {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot_read)? {
        let entry = entry.with_context(cannot_read)?;
        if entry.path().is_dir() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
