//! `render`: the blobs of catalogs as one stream, in the order of `opm render`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::arguments::BlobForm;
use crate::fbc::{CatalogError, ReadLimits, Rendered, render};

/// The blobs of folders and files, sorted: by package its `olm.package`, channels, bundles, other
/// schemas and deprecations; blobs without a package at the end.
///
/// # Errors
/// Something cannot be read. The blobs need not make a valid catalog.
pub(super) fn blobs(references: &[PathBuf], limits: &ReadLimits) -> Result<Vec<Value>> {
    let mut all: Vec<Rendered> = Vec::new();
    for reference in references {
        all.extend(read(reference, limits)?);
    }
    // The sort keeps the order of blobs with the same key.
    all.sort_by(|left, right| left.key.cmp(&right.key));
    Ok(all.into_iter().map(|blob| blob.value).collect())
}

fn read(reference: &Path, limits: &ReadLimits) -> Result<Vec<Rendered>, CatalogError> {
    render(reference, limits)
}

/// Prints blobs.
pub(super) fn print(blobs: &[Value], form: BlobForm, out: &mut dyn Write) -> io::Result<()> {
    for blob in blobs {
        match form {
            BlobForm::Json => writeln!(out, "{blob:#}")?,
            BlobForm::Yaml => {
                let text = yaml_serde::to_string(blob).map_err(io::Error::other)?;
                write!(out, "---\n{text}")?;
            }
        }
    }
    Ok(())
}
