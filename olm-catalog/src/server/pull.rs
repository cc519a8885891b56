//! Catalogs and bundles from registries, for `render`.

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result};

use super::arguments::Registries;
use super::catalog_image;
use super::render::Content;
use crate::bundle::RegistryV1;
use crate::fbc::ReadLimits;
use crate::image::{
    ImageReference, Keychain, Limits, Registry, RegistryOptions, catalog_folder, labels, pull,
};

/// The catalog or bundle in an image, with the credentials of the user.
pub(super) async fn content(
    name: &str,
    registries: Registries,
    limits: &ReadLimits,
) -> Result<Content> {
    let image: ImageReference =
        name.parse().context("there is no such file or folder, and as a reference")?;
    let without_tls = registries.use_http.then(|| image.endpoint().to_owned());
    let registry = Registry::with(RegistryOptions {
        without_tls: without_tls.into_iter().collect(),
        any_certificate: registries.skip_tls_verify || registries.skip_tls,
        ..RegistryOptions::default()
    });
    let registry = registry.context("set up TLS")?;
    let keychain = keychain()?;
    let labels = labels(&registry, &image, &keychain, &catalog_image::LIMITS).await?;
    if let Some(folder) = catalog_folder(&labels)? {
        let tree = pull(&registry, &image, &keychain, &catalog_image::LIMITS).await?;
        return Ok(Content::Catalog(catalog_image::rendered(&tree, folder, limits)?));
    }
    let tree = pull(&registry, &image, &keychain, &Limits::default()).await?;
    Ok(Content::Bundle(Box::new(RegistryV1::of_image(&tree, name)?)))
}

/// What `podman login` or `docker login` wrote.
fn keychain() -> Result<Keychain> {
    let mut keychain = Keychain::default();
    let Some(path) = credentials() else { return Ok(keychain) };
    let text = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
    let added = keychain.add(|key| (key == ".dockerconfigjson").then_some(text.as_slice()));
    added.with_context(|| format!("read credentials in {}", path.display()))?;
    Ok(keychain)
}

/// The file with the credentials of the user, if there is one.
fn credentials() -> Option<PathBuf> {
    let folder = |variable| env::var_os(variable).map(PathBuf::from);
    let places = [
        folder("REGISTRY_AUTH_FILE"),
        folder("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json")),
        folder("DOCKER_CONFIG").map(|folder| folder.join("config.json")),
        folder("HOME").map(|folder| folder.join(".docker/config.json")),
    ];
    places.into_iter().flatten().find(|path| path.is_file())
}
