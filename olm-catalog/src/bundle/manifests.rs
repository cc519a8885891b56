//! Reads the manifests of a bundle folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use olm_types::document::{self, Budget, DocumentError, Meter};
use serde_json::Value;
use thiserror::Error;

/// Largest manifest file, in bytes. An API server takes no larger object.
pub(super) const FILE_BYTES: u64 = 3 << 20;

/// One manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// File name.
    pub file: String,
    /// The object.
    pub object: Value,
}

/// A folder of manifests cannot be read.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// The file system refuses.
    #[error("read {}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A file is larger than any object can be.
    #[error("{} is larger than {FILE_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// A file is not YAML or JSON.
    #[error("{}, document {}: {}", .0.display(), .1, .2)]
    Syntax(PathBuf, usize, #[source] DocumentError),
    /// A document is no Kubernetes object.
    #[error("{}, document {}: an object needs apiVersion and kind", .0.display(), .1)]
    NoObject(PathBuf, usize),
}

impl Manifest {
    /// The kind of the object.
    pub fn kind(&self) -> &str {
        self.object.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    /// The name of the object; empty when it has none.
    pub fn name(&self) -> &str {
        self.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The manifests in the files of a folder (no subfolders, no dot-files), in the order of file
/// names.
///
/// # Errors
/// A file cannot be read or holds something that is no Kubernetes object, or all together cost more
/// than a bundle may.
pub fn read_folder(folder: &Path) -> Result<Vec<Manifest>, ManifestError> {
    let failed = |source| ManifestError::Io(folder.to_owned(), source);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    paths.sort();
    let (mut manifests, mut meter) = (Vec::new(), Meter::in_all(Budget::BUNDLE));
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !file.starts_with('.') {
            read_file(&path, &file, &mut meter, &mut manifests)?;
        }
    }
    Ok(manifests)
}

fn read_file(
    path: &Path,
    file: &str,
    meter: &mut Meter,
    manifests: &mut Vec<Manifest>,
) -> Result<(), ManifestError> {
    let failed = |source| ManifestError::Io(path.to_owned(), source);
    if fs::metadata(path).map_err(failed)?.len() > FILE_BYTES {
        return Err(ManifestError::TooLarge(path.to_owned()));
    }
    let bytes = fs::read(path).map_err(failed)?;
    let syntax = |(number, message)| ManifestError::Syntax(path.to_owned(), number, message);
    for (number, object) in (1..).zip(document::all(&bytes, meter).map_err(syntax)?) {
        if object.is_null() {
            continue;
        }
        let named = |field: &str| object.get(field).is_some_and(Value::is_string);
        if !named("apiVersion") || !named("kind") {
            return Err(ManifestError::NoObject(path.to_owned(), number));
        }
        manifests.push(Manifest { file: file.to_owned(), object });
    }
    Ok(())
}
