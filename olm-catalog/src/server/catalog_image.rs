//! Catalogs in images, for `render`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use tempfile::TempDir;

use crate::fbc::{ReadLimits, Rendered, render};
use crate::image::{CONFIGS, Limits, Tree, Unlistable};

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
    names: 64 << 20,
    looks: 4_000_000,
    file: 512 << 20,
    kept: 2 << 30,
    until: None,
};

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
fn copy(tree: &Tree, folder: &str, to: &Path) -> Result<()> {
    let files = tree.files_below(folder, LIMITS.names).map_err(|why| match why {
        Unlistable::Large(path, size) => anyhow!("{path} has {size} bytes, which is too much"),
        Unlistable::Names(limit) => anyhow!("the names of its files take more than {limit} bytes"),
    })?;
    for (path, content) in files {
        let to = to.join(path);
        fs::create_dir_all(to.parent().context("a file is in no folder")?)?;
        fs::write(to, content)?;
    }
    Ok(())
}
