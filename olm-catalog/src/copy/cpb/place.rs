//! What belongs to an image, and what only is in its file system: devices, process information,
//! mounted secrets, and the folder that the bundle is copied to.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::copy::tree::{TreeError, io_error};

/// Folders that the container runtime fills. Tokens of ServiceAccounts are in `/run` or `/var/run`.
const FOREIGN: [&str; 5] = ["dev", "proc", "sys", "run", "var/run"];

/// The file system of an image.
#[derive(Debug)]
pub(super) struct Image {
    /// Its root, without links in the path.
    pub(super) root: PathBuf,
    foreign: Vec<PathBuf>,
}

impl Image {
    /// The image at `root`; `output` is foreign to it.
    ///
    /// # Errors
    /// There is no such folder.
    pub(super) fn open(root: &Path, output: &Path) -> Result<Self, TreeError> {
        let root = fs::canonicalize(root).map_err(|error| io_error("read", root, error))?;
        let places = FOREIGN.iter().map(|name| root.join(name));
        let places = places.chain([root.join(output)]);
        let foreign = places.map(|place| fs::canonicalize(&place).unwrap_or(place)).collect();
        Ok(Self { root, foreign })
    }

    /// Whether a path without links belongs to the image.
    pub(super) fn owns(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !self.foreign.iter().any(|place| path.starts_with(place))
    }

    /// The file behind a path, if it is one of the image.
    pub(super) fn real(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok().filter(|real| self.owns(real) && real.is_file())
    }
}

/// The path made of the names in a text; none if the text goes up.
pub(super) fn downwards(text: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in Path::new(text).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("manifests/", Some("manifests"))]
    #[case("/manifests/", Some("manifests"))]
    #[case("./a//b", Some("a/b"))]
    #[case("/", Some(""))]
    #[case("manifests/../../etc", None)]
    #[case("..", None)]
    fn paths_go_down(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(downwards(text), expected.map(PathBuf::from));
    }

    #[test]
    fn what_is_mounted_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let image = Image::open(folder.path(), Path::new("bundle")).unwrap();
        assert!(
            image.owns(&image.root.join("manifests")) && image.owns(&image.root.join("device"))
        );
        for path in ["var/run/secrets", "run/x", "proc/1/root", "bundle/manifests"] {
            let path = image.root.join(path);
            let path = fs::canonicalize(&path).unwrap_or(path);
            assert!(!image.owns(&path), "{}", path.display());
        }
    }
}
