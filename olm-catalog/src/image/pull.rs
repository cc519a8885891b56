//! Pulls an image: manifest, then layer by layer.

use olm_tasks::blocking;

use super::layer::{Used, apply_one};
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
    let session = registry.session(image, keychain).await?;
    let (layers, _) = manifest(&session, limits).await?;
    let (mut tree, mut used) = (Tree::default(), Used::default());
    for layer in &layers {
        let bytes = session.blob(&layer.digest, layer.size).await?;
        (tree, used) = applied(tree, used, bytes, layer, *limits).await?;
    }
    Ok(tree)
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
    let session = registry.session(image, keychain).await?;
    let (_, config) = manifest(&session, limits).await?;
    let Some(config) = config.filter(|config| config.size <= CONFIG) else {
        return Ok(Labels::default());
    };
    labels_of(&session.blob(&config.digest, config.size).await?)
}

/// Layers and config of the image for this machine.
async fn manifest(
    session: &Session<'_>,
    limits: &Limits,
) -> Result<(Vec<Descriptor>, Option<Descriptor>), ImageError> {
    let digest = match Manifest::parse(session.manifest(), limits)? {
        Manifest::Image { layers, config } => return Ok((layers, config)),
        Manifest::Elsewhere(digest) => digest,
    };
    match Manifest::parse(&session.manifest_of(&digest).await?, limits)? {
        Manifest::Image { layers, config } => Ok((layers, config)),
        Manifest::Elsewhere(_) => {
            let what = format!("manifest {digest}");
            let why = "a list of manifests inside another one".to_owned();
            Err(ImageError::Malformed { what, why })
        }
    }
}

/// Decompression takes a processor: it has a thread of its own.
async fn applied(
    mut tree: Tree,
    mut used: Used,
    bytes: Vec<u8>,
    layer: &Descriptor,
    limits: Limits,
) -> Result<(Tree, Used), ImageError> {
    let compression = layer.compression()?;
    let digest = layer.digest.clone();
    let work = blocking(move || {
        apply_one(&mut tree, &mut used, &bytes, compression, &limits)
            .map(|()| (tree, used))
            .map_err(|source| ImageError::Layer { digest, source })
    });
    work.await.unwrap_or_else(|error| {
        let what = "unpacking a layer".to_owned();
        Err(ImageError::Malformed { what, why: error.to_string() })
    })
}
