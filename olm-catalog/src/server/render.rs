//! `render`: the blobs of catalogs and bundles as one stream, in the order of `opm render`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::arguments::{BlobForm, Registries, Render};
use crate::bundle::{RegistryV1, is_bundle, migrate};
use crate::fbc::{ReadLimits, Rendered, render};
use crate::image::{self, Limits, is_image};

/// The blobs of folders, files and images, sorted: by package its `olm.package`, channels, bundles,
/// other schemas and deprecations; blobs without a package at the end.
///
/// # Errors
/// Something cannot be read. The blobs need not make a valid catalog.
pub(super) async fn blobs(
    arguments: &Render,
    registries: Registries,
    limits: &ReadLimits,
) -> Result<Vec<Value>> {
    let mut all: Vec<Rendered> = Vec::new();
    for reference in &arguments.references {
        let read = read(reference, arguments, registries, limits).await;
        all.extend(read.with_context(|| format!("render reference {:?}", reference.display()))?);
    }
    // The sort keeps the order of blobs with the same key.
    all.sort_by(|left, right| left.key.cmp(&right.key));
    let mut blobs: Vec<Value> = all.into_iter().map(|blob| blob.value).collect();
    let level = arguments.migration();
    blobs.iter_mut().try_for_each(|blob| migrate(blob, level)).context("migrate")?;
    Ok(blobs)
}

async fn read(
    reference: &Path,
    arguments: &Render,
    registries: Registries,
    limits: &ReadLimits,
) -> Result<Vec<Rendered>> {
    let mut bundle = if is_bundle(reference) {
        RegistryV1::read(reference)?
    } else if is_image(reference) {
        let name = reference.display().to_string();
        let mut bundle = RegistryV1::of_image(&image::open(reference, &Limits::default())?, &name)?;
        // A path is no reference; what is one, only the template says.
        bundle.set_image("");
        bundle
    } else if reference.exists() {
        return Ok(render(reference, limits)?);
    } else {
        pulled(reference, registries).await?
    };
    if let Some(template) = &arguments.alpha_image_ref_template {
        bundle.set_image_by(template)?;
    }
    Ok(vec![Rendered::new(bundle.blob()?)?])
}

/// A bundle from a registry.
#[cfg(feature = "pull")]
async fn pulled(reference: &Path, registries: Registries) -> Result<RegistryV1> {
    let name = reference.to_str().context("the reference is not UTF-8")?;
    super::pull::bundle(name, registries).await
}

#[cfg(not(feature = "pull"))]
async fn pulled(_: &Path, _: Registries) -> Result<RegistryV1> {
    anyhow::bail!(
        "there is no such file or folder, and this program pulls no images: it was built without \
         the feature `pull`"
    )
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
