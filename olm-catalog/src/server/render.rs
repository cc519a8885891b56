//! `render`: the blobs of catalogs and bundles as one stream, in the order of `opm render`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::arguments::{BlobForm, Registries, Render};
use super::catalog_image;
use crate::bundle::{RegistryV1, is_bundle, migrate};
use crate::fbc::{ReadLimits, Rendered, render, write_yaml};
use crate::image::{self, Limits, catalog_folder, is_image};

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
    let content = if is_bundle(reference) {
        Content::Bundle(Box::new(RegistryV1::read(reference)?))
    } else if is_image(reference) {
        on_disk(reference, limits)?
    } else if reference.exists() {
        Content::Catalog(render(reference, limits)?)
    } else {
        pulled(reference, registries, limits).await?
    };
    let mut bundle = match content {
        Content::Catalog(blobs) => return Ok(blobs),
        Content::Bundle(bundle) => *bundle,
    };
    if let Some(template) = &arguments.alpha_image_ref_template {
        bundle.set_image_by(template)?;
    }
    Ok(vec![Rendered::new(bundle.blob()?)?])
}

/// What is at a reference.
pub(super) enum Content {
    Catalog(Vec<Rendered>),
    Bundle(Box<RegistryV1>),
}

/// What is in an image on a disk.
fn on_disk(path: &Path, limits: &ReadLimits) -> Result<Content> {
    let labels = image::labels_on_disk(path, &catalog_image::LIMITS)?;
    if let Some(folder) = catalog_folder(&labels)? {
        let tree = image::open(path, &catalog_image::LIMITS)?;
        return Ok(Content::Catalog(catalog_image::rendered(&tree, folder, limits)?));
    }
    let tree = image::open(path, &Limits::default())?;
    let mut bundle = RegistryV1::of_image(&tree, &path.display().to_string())?;
    // A path is no reference; what is one, only the template says.
    bundle.set_image("");
    Ok(Content::Bundle(Box::new(bundle)))
}

/// What is in an image of a registry.
#[cfg(feature = "pull")]
async fn pulled(reference: &Path, registries: Registries, limits: &ReadLimits) -> Result<Content> {
    let name = reference.to_str().context("the reference is not UTF-8")?;
    super::pull::content(name, registries, limits).await
}

#[cfg(not(feature = "pull"))]
async fn pulled(_: &Path, _: Registries, _: &ReadLimits) -> Result<Content> {
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
        BlobForm::Yaml => write!(out, "---\n{}", write_yaml(blob)),
    }
}
