//! Why a catalog is not pulled or kept. The texts reach users through conditions.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::fbc::CatalogError;
use crate::image::{DatabaseCatalog, ImageError, ReferenceError};
use crate::snapshot::FolderError;

/// The folder of catalogs cannot be used, or takes no more.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It would take more than it may.
    #[error(
        "the disk for catalogs has not enough space: {wanted} bytes are needed and {free} of \
         {limit} are free; enlarge the volume and --catalogs-dir-size"
    )]
    Full {
        /// Bytes that are needed.
        wanted: u64,
        /// Bytes that are free.
        free: u64,
        /// Bytes that there may be.
        limit: u64,
    },
}

/// A catalog is not pulled.
#[derive(Debug, Error)]
pub enum PullError {
    /// The image is unavailable, is too large, or is not what its digest says.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Its name is none of an image.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// It took too long.
    #[error("the image was not pulled within {} s", .0.as_secs())]
    Late(Duration),
    /// The image has no label that says where a catalog is.
    #[error(
        "the image has no file-based catalog: it lacks the label \
         operators.operatorframework.io.index.configs.v1, and \
         spec.grpcPodConfig.extractContent.catalogDir names no folder"
    )]
    NoCatalog,
    /// The catalog is in a database.
    #[error(transparent)]
    Database(#[from] DatabaseCatalog),
    /// The folder of the catalog cannot be used.
    #[error("the folder {folder:?} of the catalog {why}")]
    Folder {
        /// As label or spec name it.
        folder: String,
        /// What is wrong with it.
        why: String,
    },
    /// The catalog is not valid.
    #[error("the catalog is not valid: {0}")]
    Catalog(#[from] CatalogError),
    /// The catalog is larger than a resolver takes.
    #[error(transparent)]
    Snapshot(#[from] FolderError),
    /// The disk takes no more, or fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error of this program.
    #[error("pulling it {0}")]
    Panicked(#[from] olm_tasks::Panicked),
}

impl StoreError {
    /// What the system said about a path.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

impl PullError {
    /// The reason in one word, for a condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Image(error) => error.reason(),
            Self::Reference(_) => "ImageInvalid",
            Self::Late(_) => "RegistryUnavailable",
            Self::NoCatalog | Self::Database(_) => "NotFileBased",
            Self::Store(_) | Self::Catalog(CatalogError::Contents(_)) => "StorageFailed",
            Self::Folder { .. } | Self::Catalog(_) | Self::Snapshot(_) => "CatalogInvalid",
            Self::Panicked(_) => "InternalError",
        }
    }
}
