//! Bundles as folders of manifests, the blobs they become in a file-based catalog, and the
//! ConfigMaps they are unpacked into (spec catalog-operator 5, 6.6).

mod annotations;
pub mod config_map;
mod manifests;
mod render;
#[cfg(feature = "image")]
mod unpack;

use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;

#[cfg(feature = "copy")]
pub(crate) use annotations::ANNOTATIONS_BYTES;
pub use annotations::{AnnotationsError, BundleAnnotations};
pub use manifests::{Manifest, ManifestError, read_folder};
pub use render::{
    BundleError, ImageTemplate, MetadataError, Migration, MigrationError, RegistryV1, RenderError,
    TemplateError, is_bundle, migrate, render,
};

#[cfg(feature = "image")]
pub use unpack::{UnpackError, unpack};

/// A catalog cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file system refuses.
    #[error("{}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A folder makes no bundle.
    #[error("{}", .0.display())]
    Render(PathBuf, #[source] RenderError),
}

/// Writes the catalog made from `source` into the folder `out`, which is created if need be.
///
/// # Errors
/// Something cannot be read or written, or a folder of manifests makes no bundle.
pub fn write_catalog(source: &Path, out: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(out).map_err(|error| WriteError::Io(out.to_owned(), error))?;
    for file in children(&source.join("catalog"))? {
        let target = out.join(name(&file));
        fs::copy(&file, &target).map_err(|error| WriteError::Io(file, error))?;
    }
    for package in children(&source.join("bundles"))? {
        for version in children(&package)? {
            write_bundle(&package, &version, out)?;
        }
    }
    Ok(())
}

fn write_bundle(package: &Path, version: &Path, out: &Path) -> Result<(), WriteError> {
    let blob = render(&name(package), &read_folder(version)?)
        .map_err(|error| WriteError::Render(version.to_owned(), error))?;
    let target = out.join(format!("{}-{}.json", name(package), name(version)));
    fs::write(&target, format!("{blob:#}\n")).map_err(|error| WriteError::Io(target, error))
}

fn children(folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let failed = |error| WriteError::Io(folder.to_owned(), error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
