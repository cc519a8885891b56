//! The bundle in an image, found as `cpb` finds it inside of one (spec catalog-operator 5).

use thiserror::Error;

use super::config_map::{BundleFile, BundleFolder};
use super::{AnnotationsError, BundleAnnotations};
use crate::image::{Tree, Unreadable};

/// The usual place of the annotations.
const USUAL: &str = "metadata/annotations.yaml";
/// Name of the file with the annotations, where it is somewhere else.
const FILE: &str = "annotations.yaml";
/// The folder of manifests of a bundle that names none.
const MANIFESTS: &str = "/manifests";
/// Folders that are the container runtime's in a running image, so that no bundle is in them.
const FOREIGN: [&str; 5] = ["dev", "proc", "sys", "run", "var/run"];

/// There is no usable bundle in an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnpackError {
    /// There is none.
    #[error(
        "the image holds no bundle: a bundle image has metadata/annotations.yaml with the \
         annotations of a bundle"
    )]
    NoBundle,
    /// The annotations cannot be used.
    #[error("{0}: {1}")]
    Annotations(String, #[source] AnnotationsError),
    /// The folder of manifests cannot be used.
    #[error("{file}: the folder of manifests {value:?} {why}")]
    Manifests {
        /// File with the annotations.
        file: String,
        /// What it says.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something in it is no file, or leads out of the image.
    #[error("{0} is no file: a bundle has all its manifests in one folder")]
    NoFile(String),
    /// A file is larger than any manifest.
    #[error("{0} has {1} bytes, which no ConfigMap can hold")]
    Large(String, u64),
}

/// The files of the bundle in an image.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn unpack(image: &Tree) -> Result<BundleFolder, UnpackError> {
    let (file, annotations) = match image.is_file(USUAL) {
        true => (USUAL.to_owned(), read(image, USUAL)?),
        false => search(image).ok_or(UnpackError::NoBundle)?,
    };
    let folder = manifests(image, &file, annotations.manifests.as_deref().unwrap_or(MANIFESTS))?;
    let mut files = Vec::new();
    for name in image.children(&folder) {
        let path = format!("{folder}/{name}");
        let content = match image.file(&path) {
            Ok(content) => content.to_vec(),
            Err(Unreadable::Absent) => return Err(UnpackError::NoFile(path)),
            Err(Unreadable::Large(size)) => return Err(UnpackError::Large(path, size)),
        };
        files.push(BundleFile { name: name.to_owned(), content });
    }
    Ok(BundleFolder { annotations: Some(annotations), files })
}

/// The folder that the annotations name, meant from the root of the image.
fn manifests(image: &Tree, file: &str, value: &str) -> Result<String, UnpackError> {
    let refused =
        |why| UnpackError::Manifests { file: file.to_owned(), value: value.to_owned(), why };
    if value.split('/').any(|name| name == "..") {
        return Err(refused("must not contain \"..\""));
    }
    let folder = image.real(value).map_err(|_| refused("leads out of the image"))?;
    if folder.is_empty() {
        return Err(refused("is the whole image"));
    }
    if image.is_folder(&folder) { Ok(folder) } else { Err(refused("is no folder of the image")) }
}

/// The last bundle annotations in the image, in the order of names. What cannot be read is passed
/// over.
fn search(image: &Tree) -> Option<(String, BundleAnnotations)> {
    let own = |folder: &&str| {
        !FOREIGN.iter().any(|place| {
            folder.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let places = image.folders().filter(own).map(|folder| match folder {
        "" => FILE.to_owned(),
        folder => format!("{folder}/{FILE}"),
    });
    let found = places.filter_map(|place| Some((read(image, &place).ok()?, place)));
    found.filter(|(annotations, _)| !annotations.is_empty()).last().map(|(a, place)| (place, a))
}

fn read(image: &Tree, path: &str) -> Result<BundleAnnotations, UnpackError> {
    let unusable = |error| UnpackError::Annotations(path.to_owned(), error);
    let content = image.file(path).map_err(|why| match why {
        Unreadable::Absent => UnpackError::NoBundle,
        Unreadable::Large(_) => unusable(AnnotationsError::TooLarge),
    })?;
    BundleAnnotations::parse(content).map_err(unusable)
}

#[cfg(test)]
mod tests;
