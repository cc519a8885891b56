//! Where the bundle of an image is.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::CpbError;
use super::place::{Image, downwards};
use crate::bundle::{ANNOTATIONS_BYTES, AnnotationsError, BundleAnnotations};
use crate::copy::tree::{children, io_error};

/// Name of the file with the annotations.
const FILE: &str = "annotations.yaml";
/// The folder of manifests of a bundle that names none.
const MANIFESTS: &str = "/manifests";
/// Deepest folder that is searched.
const DEPTH: usize = 64;
/// Most folders that are searched.
const FOLDERS: usize = 200_000;

/// The parts of a bundle, without links in their paths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// File with the annotations.
    pub(super) annotations: PathBuf,
    /// Folder with the manifests.
    pub(super) manifests: PathBuf,
}

/// Finds the bundle below `root`. `output` is not looked into.
///
/// The usual place, `metadata/annotations.yaml`, counts before every other. Of several unusual
/// ones the last counts, in the order of names.
pub(super) fn find(root: &Path, output: &Path) -> Result<Found, CpbError> {
    let image = Image::open(root, output)?;
    let usual = image.root.join("metadata").join(FILE);
    let (file, annotations) = match image.real(&usual) {
        Some(real) => {
            let annotations = read(&real).map_err(|error| CpbError::Annotations(usual, error))?;
            (real, annotations)
        }
        None => search(&image).ok_or_else(|| CpbError::NoBundle(image.root.clone()))?,
    };
    let manifests = manifests(&image, &file, annotations)?;
    Ok(Found { annotations: file, manifests })
}

/// The folder that the annotations name. It is meant from the root of the image, with or without
/// a slash in front.
fn manifests(
    image: &Image,
    file: &Path,
    annotations: BundleAnnotations,
) -> Result<PathBuf, CpbError> {
    let value = annotations.manifests.unwrap_or_else(|| MANIFESTS.to_owned());
    let refused = |why: &str| CpbError::Manifests {
        file: file.to_owned(),
        value: value.clone(),
        why: why.to_owned(),
    };
    let relative = downwards(&value).ok_or_else(|| refused("must not contain \"..\""))?;
    let path = image.root.join(relative);
    let real = fs::canonicalize(&path).map_err(|_| refused("does not exist"))?;
    if real == image.root {
        return Err(refused("is the whole image"));
    }
    if !image.owns(&real) {
        return Err(refused(&format!("leads to {}, out of the image", real.display())));
    }
    if real.is_dir() { Ok(real) } else { Err(refused("is no folder")) }
}

/// The last bundle annotations in the image. What cannot be read is passed over, with a line that
/// says so.
fn search(image: &Image) -> Option<(PathBuf, BundleAnnotations)> {
    let mut found = None;
    let mut pending = vec![(image.root.clone(), 0)];
    let mut searched = 0_usize;
    while let Some((folder, depth)) = pending.pop() {
        searched = searched.saturating_add(1);
        if searched > FOLDERS {
            println!("stopped searching after {FOLDERS} folders");
            break;
        }
        let paths = children(&folder).unwrap_or_else(|error| {
            println!("skipping: {error}");
            Vec::new()
        });
        if let Some(file) = paths.iter().find(|path| path.ends_with(FILE) && path.is_file()) {
            found = image.real(file).and_then(|file| bundle(&file)).or(found);
        }
        // The last in, the first out: the folders are searched in the order of their names.
        let folders = paths.into_iter().rev().filter(|path| !path.is_symlink() && path.is_dir());
        let folders = folders.filter(|path| depth < DEPTH && image.owns(path));
        pending.extend(folders.map(|path| (path, depth + 1)));
    }
    found
}

fn bundle(file: &Path) -> Option<(PathBuf, BundleAnnotations)> {
    match read(file) {
        Ok(annotations) if annotations.is_empty() => None,
        Ok(annotations) => Some((file.to_owned(), annotations)),
        Err(error) => {
            println!("skipping: {}: {error}", file.display());
            None
        }
    }
}

fn read(file: &Path) -> Result<BundleAnnotations, AnnotationsError> {
    let unreadable =
        |error| AnnotationsError::Unreadable(io_error("read", file, error).to_string());
    let mut bytes = Vec::new();
    let limit = ANNOTATIONS_BYTES.saturating_add(1);
    File::open(file)
        .map_err(unreadable)?
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    BundleAnnotations::parse(&bytes)
}
