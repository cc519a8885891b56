//! Why a catalog cannot be used.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::blob::Origin;
use super::fields::FieldError;
use super::problem::Problems;

/// A catalog that cannot be used.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// Files cannot be read or understood.
    #[error("{}", Lines(.0))]
    Unreadable(Vec<ReadError>),
    /// The blobs do not make a valid catalog.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// What was read cannot be kept.
    #[error("keep the content of the catalog: {0}")]
    Contents(#[from] io::Error),
}

/// A file that cannot be read or understood.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file system refuses.
    #[error("read {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// A file is larger than allowed.
    #[error("{} is larger than {} bytes: split it", .0.display(), .1)]
    FileTooLarge(PathBuf, u64),
    /// All files together are larger than allowed.
    #[error("the files of the catalog exceed {0} bytes")]
    TooLarge(u64),
    /// There are more files than allowed.
    #[error("the catalog has more than {0} files")]
    TooManyFiles(usize),
    /// Names and channels take more memory than allowed.
    #[error("names, channels and APIs of the catalog take more than {0} bytes of memory")]
    TooManyNames(usize),
    /// There are more blobs than allowed.
    #[error("the catalog has more than {0} objects")]
    TooManyBlobs(usize),
    /// The time is over.
    #[error("the catalog was not read in the time that there was for it")]
    Late,
    /// Folders are nested too deeply.
    #[error("{} is nested deeper than {} folders", .0.display(), .1)]
    TooDeep(PathBuf, usize),
    /// A link leads out of the catalog.
    #[error("{} is a link to a file outside the catalog", .0.display())]
    Outside(PathBuf),
    /// A link leads back to a folder that it is in.
    #[error("{} is a link to a folder above it", .0.display())]
    Loop(PathBuf),
    /// Something that has no content, for example a socket.
    #[error("{} is neither a file nor a folder", .0.display())]
    NoFile(PathBuf),
    /// Files came, went or changed.
    #[error("{} changed while it was read: try again", .0.display())]
    Changed(PathBuf),
    /// A document is not JSON or YAML. The rest of the file is not read.
    #[error("{origin}: {message}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says.
        message: String,
    },
    /// A document is no blob, or one with a field of the wrong type.
    #[error("{origin}{}: {source}", Named(.blob))]
    Blob {
        /// Where.
        origin: Origin,
        /// Schema and name as far as they are known, for example `olm.bundle "etcd.v0.9.2"`.
        blob: String,
        /// What is wrong.
        source: FieldError,
    },
}

impl From<Vec<ReadError>> for CatalogError {
    fn from(errors: Vec<ReadError>) -> Self {
        Self::Unreadable(errors)
    }
}

impl ReadError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io(path.to_owned(), source)
    }
}

/// One error per line.
struct Lines<'a>(&'a [ReadError]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

/// A name in parentheses, if there is one.
struct Named<'a>(&'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0) }
    }
}
