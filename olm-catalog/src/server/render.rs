//! `render`: the blobs of catalogs and bundles as one stream, in the order of `opm render`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::arguments::{BlobForm, Render};
use crate::bundle::{RegistryV1, is_bundle, migrate};
use crate::fbc::{ReadLimits, Rendered, render};

/// The blobs of folders and files, sorted: by package its `olm.package`, channels, bundles, other
/// schemas and deprecations; blobs without a package at the end.
///
/// # Errors
/// Something cannot be read. The blobs need not make a valid catalog.
pub(super) fn blobs(arguments: &Render, limits: &ReadLimits) -> Result<Vec<Value>> {
    let mut all: Vec<Rendered> = Vec::new();
    for reference in &arguments.references {
        let read = read(reference, arguments, limits);
        all.extend(read.with_context(|| format!("render reference {:?}", reference.display()))?);
    }
    // The sort keeps the order of blobs with the same key.
    all.sort_by(|left, right| left.key.cmp(&right.key));
    let mut blobs: Vec<Value> = all.into_iter().map(|blob| blob.value).collect();
    let level = arguments.migration();
    blobs.iter_mut().try_for_each(|blob| migrate(blob, level)).context("migrate")?;
    Ok(blobs)
}

fn read(reference: &Path, arguments: &Render, limits: &ReadLimits) -> Result<Vec<Rendered>> {
    if !is_bundle(reference) {
        return Ok(render(reference, limits)?);
    }
    let mut bundle = RegistryV1::read(reference)?;
    if let Some(template) = &arguments.alpha_image_ref_template {
        bundle.set_image_by(template)?;
    }
    Ok(vec![Rendered::new(bundle.blob()?)?])
}

/// Prints blobs.
pub(super) fn print(blobs: &[Value], form: BlobForm, out: &mut dyn Write) -> io::Result<()> {
    blobs.iter().try_for_each(|blob| print_one(blob, form, out))
}

/// Prints one object.
pub(super) fn print_one(blob: &Value, form: BlobForm, out: &mut dyn Write) -> io::Result<()> {
    match form {
        BlobForm::Json => writeln!(out, "{blob:#}"),
        BlobForm::Yaml => {
            let text = yaml_serde::to_string(blob).map_err(io::Error::other)?;
            write!(out, "---\n{text}")
        }
    }
}
