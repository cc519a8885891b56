//! Folders with file-based catalogs, named or found.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

/// The folders that are named; otherwise those that lie in the folder that `OLM_CORPUS` names.
pub(super) fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let corpus = std::env::var_os("OLM_CORPUS")
        .context("name the folders of catalogs, or set OLM_CORPUS to a folder that they lie in")?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&corpus).context("cannot read the folder of OLM_CORPUS")? {
        let path = entry?.path();
        found.extend(path.is_dir().then_some(path));
    }
    found.sort();
    ensure!(!found.is_empty(), "there is no catalog in the folder of OLM_CORPUS");
    Ok(found)
}
