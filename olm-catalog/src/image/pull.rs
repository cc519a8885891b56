//! Pulls an image: manifest, then layer by layer.

use super::layer::{Used, apply_one};
use super::manifest::{Descriptor, Manifest};
use super::{ImageError, ImageReference, Keychain, Limits, Registry, Tree};

/// Pulls the image and applies its layers.
///
/// # Errors
/// The image cannot be had, is too large, or is not what its digest says.
pub async fn pull(
    registry: &Registry,
    image: &ImageReference,
    keychain: &Keychain,
    limits: &Limits,
) -> Result<Tree, ImageError> {
    let session = registry.session(image, keychain).await?;
    let layers = match Manifest::parse(session.manifest(), limits)? {
        Manifest::Image(layers) => layers,
        Manifest::Elsewhere(digest) => {
            let bytes = session.manifest_of(&digest).await?;
            match Manifest::parse(&bytes, limits)? {
                Manifest::Image(layers) => layers,
                Manifest::Elsewhere(_) => {
                    let what = format!("manifest {digest}");
                    let why = "a list of manifests inside another one".to_owned();
                    return Err(ImageError::Malformed { what, why });
                }
            }
        }
    };
    let (mut tree, mut used) = (Tree::default(), Used::default());
    for layer in &layers {
        let bytes = session.blob(&layer.digest, layer.size).await?;
        (tree, used) = applied(tree, used, bytes, layer, *limits).await?;
    }
    Ok(tree)
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
    let work = tokio::task::spawn_blocking(move || {
        apply_one(&mut tree, &mut used, &bytes, compression, &limits)
            .map(|()| (tree, used))
            .map_err(|source| ImageError::Layer { digest, source })
    });
    work.await.unwrap_or_else(|error| {
        let what = "unpacking a layer".to_owned();
        Err(ImageError::Malformed { what, why: error.to_string() })
    })
}
