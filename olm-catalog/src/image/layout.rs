//! Images on a disk: OCI image layouts, as a folder or as one tar file, and what `docker save` and
//! `podman save` write.

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use olm_types::document::{Budget, json_as};
use serde::Deserialize;

use super::layer::{Applied, InMemory};
use super::manifest::{CONFIG, labels as labels_of};
use super::manifest::{Descriptor, Manifest};
use super::manifest::{hex, is_sha256, verify};
use super::{Compression, ImageError, Labels, Limits, Tree, apply};

/// The file by which a layout is known.
#[cfg(feature = "server")]
const MARK: &str = "oci-layout";

/// The file that names the images of a layout.
const INDEX: &str = "index.json";

/// Most bytes of an index or a manifest.
const MANIFEST: u64 = 4 << 20;

/// How deep lists of manifests may be.
const LISTS: usize = 3;

/// What every tar file has, and where, in bytes.
#[cfg(feature = "server")]
const TAR: (usize, &[u8]) = (257, b"ustar");

/// How compression by gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How a frame of zstd begins.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether there is an image at a path: a folder with a layout, or a tar file.
#[cfg(feature = "server")]
pub(crate) fn is_image(path: &Path) -> bool {
    if path.is_dir() {
        return path.join(MARK).is_file();
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    read.is_ok() && start.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1))
}

/// The files of the image at a path. Of several images, the one for this machine, else the first.
///
/// # Errors
/// There is no image, it is too large, or it is not what its digests say.
pub fn open(path: &Path, limits: &Limits) -> Result<Tree, ImageError> {
    let blobs = Blobs::open(path, limits)?;
    let (layers, _) = blobs.image(limits)?;
    let mut applied = Applied::<InMemory>::default();
    for layer in layers {
        let bytes = blobs.read(&layer.path, limits.transferred)?;
        if let Some(digest) = &layer.digest {
            verify(&layer.path, digest, &bytes)?;
        }
        let compression = layer.compression.unwrap_or_else(|| guessed(&bytes));
        let added = applied.add(&*bytes, bytes.len() as u64, compression, limits);
        added.map_err(|source| ImageError::Layer { digest: layer.path, source })?;
    }
    Ok(applied.tree)
}

/// The labels of the image that [`open`] opens.
///
/// # Errors
/// There is no image, or it is not what its digests say.
pub fn labels(path: &Path, limits: &Limits) -> Result<Labels, ImageError> {
    let blobs = Blobs::open(path, limits)?;
    let (_, config) = blobs.image(limits)?;
    match config.filter(|config| blobs.has(config)) {
        Some(config) => labels_of(&blobs.read(&config, CONFIG)?),
        None => Ok(Labels::default()),
    }
}

/// A layer and where it is.
struct Stored {
    path: String,
    digest: Option<String>,
    compression: Option<Compression>,
}

/// The files of a layout.
enum Blobs {
    Folder(PathBuf),
    Archive(Tree),
}

/// An image in `manifest.json`, the older form.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    #[serde(default)]
    config: Option<String>,
    layers: Vec<String>,
}

impl Blobs {
    fn open(path: &Path, limits: &Limits) -> Result<Self, ImageError> {
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        let what = path.display().to_string();
        let archive = bounded(path, &what, limits.transferred)?;
        // Here, files are layers.
        let limits = Limits { file: limits.transferred, kept: limits.transferred, ..*limits };
        let tree = apply([(archive.as_slice(), Compression::None)], &limits);
        tree.map(Self::Archive).map_err(|error| malformed(&what, error.to_string()))
    }

    /// Layers of the image, and the file that says more about it.
    fn image(&self, limits: &Limits) -> Result<(Vec<Stored>, Option<String>), ImageError> {
        if self.has(INDEX) {
            self.named(&self.read(INDEX, MANIFEST)?, limits)
        } else {
            self.saved(limits)
        }
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(path).exists(),
            Self::Archive(tree) => tree.is_file(path),
        }
    }

    fn read(&self, path: &str, limit: u64) -> Result<Cow<'_, [u8]>, ImageError> {
        match self {
            Self::Folder(folder) => bounded(&folder.join(path), path, limit).map(Cow::Owned),
            Self::Archive(tree) => {
                let file = tree.file(path).map_err(|_| missing(path))?;
                if file.len() as u64 > limit { Err(too_much(path, limit)) } else { Ok(file.into()) }
            }
        }
    }

    /// Layers of the image that an index names.
    fn named(
        &self,
        index: &[u8],
        limits: &Limits,
    ) -> Result<(Vec<Stored>, Option<String>), ImageError> {
        let mut manifest = Manifest::parse(index, limits)?;
        for _ in 0..LISTS {
            let listed = match manifest {
                Manifest::Image { layers, config } => {
                    let layers = layers.iter().map(stored).collect::<Result<_, _>>()?;
                    let config = config.map(|config| blob_path(&config.digest));
                    return Ok((layers, config.transpose()?));
                }
                Manifest::Elsewhere(listed) => listed,
            };
            let bytes = self.read(&blob_path(&listed.digest)?, MANIFEST)?;
            verify("a manifest", &listed.digest, &bytes)?;
            manifest = Manifest::parse(&bytes, limits)?;
        }
        Err(malformed(INDEX, format!("more than {LISTS} lists inside each other")))
    }

    /// Layers of the one image of an archive in the older form.
    fn saved(&self, limits: &Limits) -> Result<(Vec<Stored>, Option<String>), ImageError> {
        const FILE: &str = "manifest.json";
        let images: Vec<Saved> = json_as(&self.read(FILE, MANIFEST)?, &Budget::PROPERTY)
            .map_err(|error| malformed(FILE, error.to_string()))?;
        let [image] = images.as_slice() else {
            return Err(malformed(FILE, format!("{} images; one is expected", images.len())));
        };
        if image.layers.len() > limits.layers {
            return Err(malformed(FILE, format!("more than {} layers", limits.layers)));
        }
        let layer = |path: &String| Stored { path: path.clone(), digest: None, compression: None };
        Ok((image.layers.iter().map(layer).collect(), image.config.clone()))
    }
}

fn stored(layer: &Descriptor) -> Result<Stored, ImageError> {
    Ok(Stored {
        path: blob_path(&layer.digest)?,
        digest: Some(layer.digest.clone()),
        compression: Some(layer.compression()?),
    })
}

fn blob_path(digest: &str) -> Result<String, ImageError> {
    match hex(digest).filter(|_| is_sha256(digest)) {
        Some(hex) => Ok(format!("blobs/sha256/{hex}")),
        None => Err(malformed("a manifest", format!("{digest:?} is no digest by SHA-256"))),
    }
}

fn guessed(layer: &[u8]) -> Compression {
    match layer {
        layer if layer.starts_with(&GZIP) => Compression::Gzip,
        layer if layer.starts_with(&ZSTD) => Compression::Zstd,
        _ => Compression::None,
    }
}

fn bounded(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(what),
        _ => malformed(what, error.to_string()),
    })?;
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| malformed(what, error.to_string()))?;
    if bytes.len() as u64 > limit { Err(too_much(what, limit)) } else { Ok(bytes) }
}

fn missing(what: &str) -> ImageError {
    malformed(what, "it is not there".to_owned())
}

fn too_much(what: &str, limit: u64) -> ImageError {
    ImageError::TooMuch { what: what.to_owned(), limit, unit: "bytes" }
}

fn malformed(what: &str, why: String) -> ImageError {
    ImageError::Malformed { what: what.to_owned(), why }
}
