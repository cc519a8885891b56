//! Reads a bundle folder.
//!
//! It comes from an image of strangers, and this program has a token that they have not: links
//! that lead out of the folder are refused, and so is what is no file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bundle::config_map::{BundleFile, BundleFolder};
use crate::bundle::{AnnotationsError, BundleAnnotations};

/// The parts of a bundle.
const PARTS: [&str; 2] = ["manifests", "metadata"];
/// The file whose content becomes annotations.
const ANNOTATIONS: &str = "annotations.yaml";
/// Most files.
const FILES: usize = 10_000;
/// Most bytes of all files; compressed as well as can be, far more than a ConfigMap holds.
const BYTES: u64 = 64 << 20;

/// A bundle folder cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The file system refuses.
    #[error("read {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// A part is missing.
    #[error("{} is no bundle: it has no folder {:?}", .0.display(), .1)]
    NoPart(PathBuf, &'static str),
    /// A link leads out of the bundle.
    #[error("{} is a link to something outside the bundle", .0.display())]
    Outside(PathBuf),
    /// A folder, a device or a pipe.
    #[error("{} is no file: a bundle has all its manifests in one folder", .0.display())]
    NoFile(PathBuf),
    /// Too many files.
    #[error("the bundle has more than {FILES} files")]
    Files,
    /// Too many bytes.
    #[error("the files of the bundle have more than {BYTES} bytes")]
    Bytes,
    /// The annotations cannot be used.
    #[error("{}: {}", .0.display(), .1)]
    Annotations(PathBuf, #[source] AnnotationsError),
}

/// Reads the files in `manifests` and `metadata` below `root`.
///
/// # Errors
/// See [`FolderError`].
pub fn read_folder(root: &Path) -> Result<BundleFolder, FolderError> {
    let root = fs::canonicalize(root).map_err(|error| FolderError::Io(root.to_owned(), error))?;
    let mut bundle = BundleFolder::default();
    let mut left = BYTES;
    for part in PARTS {
        for path in files(&root, part)? {
            let content = read_file(&root, &path, &mut left)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name == ANNOTATIONS {
                let annotations = BundleAnnotations::parse(&content)
                    .map_err(|error| FolderError::Annotations(path, error))?;
                bundle.annotations = Some(annotations);
            } else {
                bundle.files.push(BundleFile { name, content });
            }
            if bundle.files.len() > FILES {
                return Err(FolderError::Files);
            }
        }
    }
    Ok(bundle)
}

/// What is in a part, in the order of names.
fn files(root: &Path, part: &'static str) -> Result<Vec<PathBuf>, FolderError> {
    let folder = root.join(part);
    if !folder.is_dir() {
        return Err(FolderError::NoPart(root.to_owned(), part));
    }
    let failed = |error| FolderError::Io(folder.clone(), error);
    let entries = fs::read_dir(&folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn read_file(root: &Path, path: &Path, left: &mut u64) -> Result<Vec<u8>, FolderError> {
    let failed = |error| FolderError::Io(path.to_owned(), error);
    let real = fs::canonicalize(path).map_err(failed)?;
    if !real.starts_with(root) {
        return Err(FolderError::Outside(path.to_owned()));
    }
    if !real.is_file() {
        return Err(FolderError::NoFile(path.to_owned()));
    }
    let mut content = Vec::new();
    let file = File::open(&real).map_err(failed)?;
    let read = file.take(left.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
    *left = left.checked_sub(read as u64).ok_or(FolderError::Bytes)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn bundle() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for part in PARTS {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        fs::write(folder.path().join("manifests/b.yaml"), "kind: B").unwrap();
        fs::write(folder.path().join("manifests/a.yaml"), "kind: A").unwrap();
        fs::write(folder.path().join("metadata/annotations.yaml"), "annotations: {}").unwrap();
        fs::write(folder.path().join("metadata/dependencies.yaml"), "dependencies: []").unwrap();
        folder
    }

    fn refused(folder: &tempfile::TempDir) -> String {
        let message = read_folder(folder.path()).unwrap_err().to_string();
        message.replace(&*folder.path().canonicalize().unwrap().to_string_lossy(), "")
    }

    #[test]
    fn manifests_come_before_metadata() {
        let read = read_folder(bundle().path()).unwrap();
        let names: Vec<&str> = read.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.yaml", "b.yaml", "dependencies.yaml"]);
        assert_eq!(read.annotations, Some(BundleAnnotations::default()));
    }

    #[test]
    fn links_may_lead_to_files_of_the_bundle_only() {
        let folder = bundle();
        let link = folder.path().join("manifests/c.yaml");
        symlink("a.yaml", &link).unwrap();
        assert_eq!(read_folder(folder.path()).unwrap().files[2].content, b"kind: A");
        fs::remove_file(&link).unwrap();
        symlink("/etc/passwd", &link).unwrap();
        assert_eq!(refused(&folder), "/manifests/c.yaml is a link to something outside the bundle");
    }

    #[test]
    fn what_is_no_bundle_is_refused() {
        let folder = bundle();
        fs::create_dir(folder.path().join("manifests/more")).unwrap();
        let message = "/manifests/more is no file: a bundle has all its manifests in one folder";
        assert_eq!(refused(&folder), message);
        let folder = bundle();
        fs::write(folder.path().join("metadata/annotations.yaml"), "a: 1").unwrap();
        let message = "/metadata/annotations.yaml: there is no map `annotations`";
        assert_eq!(refused(&folder), message);
        fs::remove_dir_all(folder.path().join("metadata")).unwrap();
        assert_eq!(refused(&folder), " is no bundle: it has no folder \"metadata\"");
        let folder = bundle();
        let huge = File::create(folder.path().join("manifests/huge")).unwrap();
        huge.set_len(65 << 20).unwrap();
        assert_eq!(refused(&folder), "the files of the bundle have more than 67108864 bytes");
    }
}
