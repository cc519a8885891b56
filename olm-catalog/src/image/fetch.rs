//! An image whose layers are fetched into files, looked into there, and of which some files are
//! copied out.
//!
//! Layers are read twice: once for the names of all files, as upper layers change lower ones, and then
//! those that hold what is wanted. So memory is taken by names alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use tokio::fs::File;

use super::layer::{Applied, Places, bounded, raw_entries};
use super::manifest::{Descriptor, digest_of, hex, is_sha256};
use super::pull::{labels_in, manifest};
use super::registry::Session;
use super::{
    FileLocation, ImageError, ImageReference, Keychain, Labels, LayerError, Limits, Registry, Tree,
};

/// How much of a layer is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// An image in a registry that let us in.
#[derive(Debug)]
pub struct RemoteImage {
    session: Session,
    layers: Vec<Descriptor>,
    config: Option<Descriptor>,
}

/// The layers of an image in files of a folder. They stay when this is dropped.
#[derive(Debug)]
pub struct FetchedLayers {
    folder: PathBuf,
    layers: Vec<Descriptor>,
}

impl RemoteImage {
    /// Gets the manifest of an image, of a list of them that for this machine.
    ///
    /// # Errors
    /// The image is unavailable, is too large, or is not what its digest says.
    pub async fn open(
        registry: &Registry,
        image: &ImageReference,
        keychain: &Keychain,
        limits: &Limits,
    ) -> Result<Self, ImageError> {
        let mut session = registry.session(image, keychain).await?;
        let (layers, config) = manifest(&mut session, limits).await?;
        Ok(Self { session, layers, config })
    }

    /// The digest of what the reference names: of a manifest, or of a list of them.
    pub fn digest(&self) -> String {
        digest_of(self.session.manifest())
    }

    /// Bytes of all layers as they are transferred.
    pub fn transferred(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.size))
    }

    /// The labels.
    ///
    /// # Errors
    /// The config is unavailable, or is not what its digest says.
    pub async fn labels(&mut self) -> Result<Labels, ImageError> {
        labels_in(&mut self.session, self.config.clone()).await
    }

    /// Fetches all layers into a folder.
    ///
    /// # Errors
    /// A layer is unavailable, is not what its digest says, or cannot be written.
    pub async fn fetch(mut self, folder: &Path) -> Result<FetchedLayers, ImageError> {
        // What cannot be read is not transferred.
        self.layers.iter().try_for_each(|layer| layer.compression().map(drop))?;
        for layer in &self.layers {
            let path = path_of(folder, layer)?;
            if path.exists() {
                continue;
            }
            let mut file = File::create(&path).await.map_err(|error| unwritten(layer, &error))?;
            self.session.blob_into(&layer.digest, layer.size, &mut file).await?;
        }
        Ok(FetchedLayers { folder: folder.to_owned(), layers: self.layers })
    }
}

impl FetchedLayers {
    /// The files of the image. Takes a processor for as long as it takes to decompress all layers.
    ///
    /// # Errors
    /// A layer cannot be read, is no archive, holds too much, or something that no image should hold.
    pub fn list(&self, limits: &Limits) -> Result<Tree<FileLocation>, ImageError> {
        let mut applied = Applied::<Places>::default();
        for layer in &self.layers {
            let content = self.open(layer, limits)?;
            let added = applied.add(content, layer.size, layer.compression()?, limits);
            added.map_err(|source| of_layer(layer, source))?;
        }
        Ok(applied.tree)
    }

    /// Copies files into a folder that is empty, each to a path below it. Folders on the way are
    /// made. Paths are those of a [`Tree`].
    ///
    /// # Errors
    /// A layer cannot be read, or a file cannot be written.
    pub fn copy(
        &self,
        files: &[(String, FileLocation)],
        to: &Path,
        limits: &Limits,
    ) -> Result<(), ImageError> {
        for (number, layer) in (0..).zip(&self.layers) {
            let mut wanted: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
            for (path, place) in files.iter().filter(|(_, place)| place.layer == number) {
                wanted.entry(place.entry).or_default().push(path);
            }
            if !wanted.is_empty() {
                self.copy_of(layer, &mut wanted, to, limits)?;
            }
        }
        Ok(())
    }

    fn copy_of(
        &self,
        layer: &Descriptor,
        wanted: &mut BTreeMap<u32, Vec<&str>>,
        to: &Path,
        limits: &Limits,
    ) -> Result<(), ImageError> {
        let content = self.open(layer, limits)?;
        let mut failed = None;
        let (read, _) = bounded(content, layer.size, layer.compression()?, 0, limits, |content| {
            raw_entries(content, |number, entry| {
                if let Some(paths) = wanted.remove(&number) {
                    failed = write(entry, &paths, to)?;
                }
                Ok(failed.is_none() && !wanted.is_empty())
            })
        });
        read.map_err(|source| of_layer(layer, source))?;
        failed.map_or(Ok(()), Err)
    }

    fn open(
        &self,
        layer: &Descriptor,
        limits: &Limits,
    ) -> Result<BufReader<impl Read + use<>>, ImageError> {
        let file = fs::File::open(path_of(&self.folder, layer)?);
        let file = file.map_err(|error| unwritten(layer, &error))?;
        Ok(BufReader::with_capacity(CHUNK, Timed { file, limits: *limits }))
    }
}

/// A file that is read until a time. What is read out of it is checked as well; but a reader may read
/// much and give nothing.
struct Timed {
    file: fs::File,
    limits: Limits,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.limits.is_late() {
            return Err(io::Error::other(LayerError::Late));
        }
        self.file.read(buffer)
    }
}

/// Writes one file under all its paths; returns why that is impossible, if it is.
fn write(
    entry: &mut dyn Read,
    paths: &[&str],
    to: &Path,
) -> Result<Option<ImageError>, LayerError> {
    let Some((first, others)) = paths.split_first() else { return Ok(None) };
    let first = to.join(first);
    let refused = |path: &Path, error: &io::Error| {
        let what = path.strip_prefix(to).unwrap_or(path).display().to_string();
        let why = error.to_string();
        Ok(Some(match error.kind() {
            io::ErrorKind::InvalidFilename => ImageError::Malformed { what, why },
            _ => ImageError::Disk { what, why },
        }))
    };
    let mut file = match created(&first) {
        Ok(file) => file,
        Err(error) => return refused(&first, &error),
    };
    let mut buffer = vec![0; CHUNK];
    loop {
        let count =
            entry.read(&mut buffer).map_err(|error| LayerError::Archive(error.to_string()))?;
        if count == 0 {
            break;
        }
        if let Err(error) = file.write_all(buffer.get(..count).unwrap_or_default()) {
            return refused(&first, &error);
        }
    }
    for other in others {
        let other = to.join(other);
        let copied = created(&other).and_then(|_| fs::copy(&first, &other));
        if let Err(error) = copied {
            return refused(&other, &error);
        }
    }
    Ok(None)
}

fn created(path: &Path) -> io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create_new(path)
}

/// The file of a layer. A digest becomes part of a path: it must not be anything else.
fn path_of(folder: &Path, layer: &Descriptor) -> Result<PathBuf, ImageError> {
    match hex(&layer.digest).filter(|_| is_sha256(&layer.digest)) {
        Some(hex) => Ok(folder.join(hex)),
        None => Err(ImageError::Malformed {
            what: "the image's manifest".to_owned(),
            why: "what it names as a digest is none by SHA-256".to_owned(),
        }),
    }
}

fn of_layer(layer: &Descriptor, source: LayerError) -> ImageError {
    ImageError::Layer { digest: layer.digest.clone(), source }
}

fn unwritten(layer: &Descriptor, error: &io::Error) -> ImageError {
    ImageError::Disk { what: format!("layer {}", layer.digest), why: error.to_string() }
}
