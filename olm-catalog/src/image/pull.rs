//! Pulls an image: manifest, then layer by layer.

use olm_tasks::blocking;

use super::layer::{Applied, InMemory};
use super::manifest::{CONFIG, labels as labels_of};
use super::manifest::{Descriptor, Manifest};
use super::registry::Session;
use super::{ImageError, ImageReference, Keychain, Labels, Limits, Registry, Tree};

/// Pulls the image and applies its layers.
///
/// # Errors
/// The image is unavailable, is too large, or is not what its digest says.
pub async fn pull(
    registry: &Registry,
    image: &ImageReference,
    keychain: &Keychain,
    limits: &Limits,
) -> Result<Tree, ImageError> {
    let mut session = registry.session(image, keychain).await?;
    let (layers, _) = manifest(&mut session, limits).await?;
    let mut applied = Applied::default();
    for layer in &layers {
        let bytes = session.blob(&layer.digest, layer.size).await?;
        applied = add(applied, bytes, layer, *limits).await?;
    }
    Ok(applied.tree)
}

/// The labels of the image, for which its layers are not transferred.
///
/// # Errors
/// The image is unavailable, or is not what its digest says.
pub async fn labels(
    registry: &Registry,
    image: &ImageReference,
    keychain: &Keychain,
    limits: &Limits,
) -> Result<Labels, ImageError> {
    let mut session = registry.session(image, keychain).await?;
    let (_, config) = manifest(&mut session, limits).await?;
    labels_in(&mut session, config).await
}

/// The labels in a config, if there is one.
pub(super) async fn labels_in(
    session: &mut Session,
    config: Option<Descriptor>,
) -> Result<Labels, ImageError> {
    let Some(config) = config.filter(|config| config.size <= CONFIG) else {
        return Ok(Labels::default());
    };
    labels_of(&session.blob(&config.digest, config.size).await?)
}

/// Layers and config of the image for this machine.
pub(super) async fn manifest(
    session: &mut Session,
    limits: &Limits,
) -> Result<(Vec<Descriptor>, Option<Descriptor>), ImageError> {
    let listed = match Manifest::parse(session.manifest(), limits)? {
        Manifest::Image { layers, config } => return Ok((layers, config)),
        Manifest::Elsewhere(listed) => listed,
    };
    match Manifest::parse(&session.manifest_of(&listed).await?, limits)? {
        Manifest::Image { layers, config } => Ok((layers, config)),
        Manifest::Elsewhere(_) => {
            let what = format!("manifest {}", listed.digest);
            let why = "a list of manifests inside another one".to_owned();
            Err(ImageError::Malformed { what, why })
        }
    }
}

/// Decompression takes a processor: it has a thread of its own.
async fn add(
    mut applied: Applied<InMemory>,
    bytes: Vec<u8>,
    layer: &Descriptor,
    limits: Limits,
) -> Result<Applied<InMemory>, ImageError> {
    let compression = layer.compression()?;
    let digest = layer.digest.clone();
    let work = blocking(move || {
        let added = applied.add(&*bytes, bytes.len() as u64, compression, &limits);
        added.map(|()| applied).map_err(|source| ImageError::Layer { digest, source })
    });
    work.await.unwrap_or_else(|error| {
        let what = "unpacking a layer".to_owned();
        Err(ImageError::Malformed { what, why: error.to_string() })
    })
}
