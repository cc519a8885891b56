//! Reads the files of a bundle, which comes from strangers: links may lead to files of the bundle
//! only, and no file may be larger than anything that is meant to be there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bundle::manifests::FILE_BYTES;
#[cfg(feature = "image")]
use crate::image::{Tree, Unreadable};

/// Most files in one folder.
const FILES: usize = 10_000;

/// A file of a bundle cannot be read.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file system refuses.
    #[error("read {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// A file is larger than any object can be.
    #[error("{} is larger than {FILE_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// There are more files than any bundle needs.
    #[error("{} has more than {FILES} files", .0.display())]
    TooMany(PathBuf),
    /// A link leads out of the bundle.
    #[error("{} is a link to something outside the bundle", .0.display())]
    Outside(PathBuf),
}

/// The files of one bundle.
#[derive(Clone, Debug)]
pub(super) enum Files<'a> {
    /// In a folder: as it was named, and without links in its path.
    Folder(&'a Path, PathBuf),
    /// In an image.
    #[cfg(feature = "image")]
    Image(&'a Tree),
}

impl<'a> Files<'a> {
    /// Those in a folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub(super) fn of_folder(folder: &'a Path) -> Result<Self, FileError> {
        let root = fs::canonicalize(folder).map_err(|error| FileError::Io(folder.into(), error))?;
        Ok(Self::Folder(folder, root))
    }

    /// What a part of the bundle is called.
    pub(super) fn part(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder, _) => folder.join(name),
            #[cfg(feature = "image")]
            Self::Image(_) => PathBuf::from(name),
        }
    }

    /// The files in a part, without those in folders below it, in the order of their names.
    ///
    /// # Errors
    /// The part cannot be read or has too many files.
    pub(super) fn list(&self, part: &Path) -> Result<Vec<PathBuf>, FileError> {
        match self {
            Self::Folder(..) => list(part),
            #[cfg(feature = "image")]
            Self::Image(tree) => list_of_image(tree, part),
        }
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is a link that leads out of the bundle.
    pub(super) fn content(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        match self {
            Self::Folder(_, root) => content(root, path),
            #[cfg(feature = "image")]
            Self::Image(tree) => content_of_image(tree, path),
        }
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let failed = |source| FileError::Io(folder.to_owned(), source);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.take(FILES.saturating_add(1)).map(|entry| entry.map(|it| it.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    if paths.len() > FILES {
        return Err(FileError::TooMany(folder.to_owned()));
    }
    paths.retain(|path| !path.is_dir());
    paths.sort();
    Ok(paths)
}

/// The content of a file below `root`, which has no links in its path.
fn content(root: &Path, path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Io(path.to_owned(), source);
    let real = fs::canonicalize(path).map_err(failed)?;
    if !real.starts_with(root) {
        return Err(FileError::Outside(path.to_owned()));
    }
    if !real.is_file() {
        return Err(failed(io::Error::other("it is neither a file nor a folder")));
    }
    let mut content = Vec::new();
    let file = File::open(&real).map_err(failed)?;
    file.take(FILE_BYTES.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > FILE_BYTES {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    Ok(content)
}

#[cfg(feature = "image")]
fn list_of_image(tree: &Tree, folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let real = tree.real(&folder.to_string_lossy());
    let real = real.map_err(|error| FileError::Io(folder.into(), io::Error::other(error)))?;
    let paths = tree.children(&real).map(|name| folder.join(name));
    let mut paths: Vec<PathBuf> = paths.take(FILES.saturating_add(1)).collect();
    if paths.len() > FILES {
        return Err(FileError::TooMany(folder.to_owned()));
    }
    paths.retain(|path| !tree.is_folder(&path.to_string_lossy()));
    Ok(paths)
}

#[cfg(feature = "image")]
fn content_of_image(tree: &Tree, path: &Path) -> Result<Vec<u8>, FileError> {
    match tree.file(&path.to_string_lossy()) {
        Ok(content) if content.len() as u64 <= FILE_BYTES => Ok(content.to_vec()),
        Ok(_) | Err(Unreadable::Large(_)) => Err(FileError::TooLarge(path.to_owned())),
        Err(Unreadable::Absent) => Err(FileError::Io(path.into(), io::ErrorKind::NotFound.into())),
    }
}

/// The name of a file.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
