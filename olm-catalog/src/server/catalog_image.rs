//! Catalogs in images, for `render`.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::fbc::{ReadLimits, Rendered, render};
use crate::image::{Labels, Limits, Tree, Unreadable};

/// Label: the folder of the catalog.
const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";
/// Label: the database of a catalog of the older kind.
const DATABASE: &str = "operators.operatorframework.io.index.database.v1";

/// Bounds on the image of a catalog: it has the server in it, and catalogs are large.
pub(super) const LIMITS: Limits = Limits {
    layers: 128,
    transferred: 1 << 30,
    unpacked: 4 << 30,
    ratio: 200,
    free: 16 << 20,
    entries: 200_000,
    depth: 64,
    path: 4_096,
    file: 512 << 20,
    kept: 2 << 30,
};

/// The folder of the catalog in an image with these labels; none when it is none of a catalog.
///
/// # Errors
/// The catalog is a database.
pub(super) fn folder(labels: &Labels) -> Result<Option<&str>> {
    if labels.contains_key(DATABASE) {
        bail!("it is a catalog in a SQLite database, which is not supported: migrate it with opm");
    }
    Ok(labels.get(CONFIGS).map(|folder| folder.trim_matches('/')))
}

/// The blobs of the catalog in a folder of an image.
pub(super) fn rendered(tree: &Tree, folder: &str, limits: &ReadLimits) -> Result<Vec<Rendered>> {
    let root = TempDir::new().context("make a folder for the catalog of an image")?;
    let folder = tree.real(folder)?;
    if !tree.is_folder(&folder) {
        bail!("the label {CONFIGS} names the folder {folder:?}, which is not there");
    }
    copy(tree, &folder, root.path()).context("copy the catalog of an image")?;
    Ok(render(root.path(), limits)?)
}

/// Writes the files of a folder, whose path has no links, and of those below it.
fn copy(tree: &Tree, folder: &str, to: &Path) -> io::Result<()> {
    for name in tree.children(folder) {
        let from = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let to = to.join(name);
        let is_link = || !tree.real(&from).is_ok_and(|real| real == from);
        match tree.file(&from) {
            Ok(content) => fs::write(&to, content)?,
            Err(Unreadable::Large(size)) => {
                return Err(io::Error::other(format!(
                    "{from} has {size} bytes, which is too much"
                )));
            }
            // Links to folders are left out: they would have to be followed without end.
            Err(Unreadable::Absent) if !tree.is_folder(&from) || is_link() => {}
            Err(Unreadable::Absent) => {
                fs::create_dir(&to)?;
                copy(tree, &from, &to)?;
            }
        }
    }
    Ok(())
}
