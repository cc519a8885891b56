//! Snapshots of file-based catalogs that are not served: for tools, and for whoever uses the resolver
//! without a cluster.

use std::path::Path;
use std::sync::Arc;

use olm_types::bundle::CatalogKey;
use thiserror::Error;

use super::{CatalogSnapshot, LimitExceeded, Member, SnapshotBuilder, SnapshotLimits, SnapshotSet};
use crate::fbc::{CatalogError, ReadLimits};
use crate::index::{Index, QueryError};

/// Why there is no snapshot of a folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder cannot be read, or holds no valid catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The index in memory does not answer.
    #[error(transparent)]
    Index(#[from] QueryError),
    /// The catalog is larger than a snapshot may be.
    #[error(transparent)]
    TooLarge(#[from] LimitExceeded),
}

impl SnapshotSet {
    /// The file-based catalog below `folder` as the [`Universe`](olm_types::bundle::Universe) of a
    /// namespace that sees only this catalog, which is `key` and has priority 0.
    ///
    /// # Errors
    /// As [`CatalogSnapshot::of_folder`].
    pub fn of_folder(key: CatalogKey, folder: &Path) -> Result<Self, FolderError> {
        let content = Ok(Arc::new(CatalogSnapshot::of_folder(key.clone(), folder)?));
        Ok(Self::new([Member { key, priority: 0, content }]))
    }
}

impl CatalogSnapshot {
    /// What a controller would know of the file-based catalog below `folder` if it were served for
    /// the CatalogSource `key`. The bounds are the defaults of [`ReadLimits`] and [`SnapshotLimits`].
    ///
    /// # Errors
    /// The folder cannot be read, holds no valid catalog, or exceeds a bound.
    pub fn of_folder(key: CatalogKey, folder: &Path) -> Result<Self, FolderError> {
        Self::of_index(key, &Index::build(folder, &ReadLimits::default(), None)?)
    }

    /// The same of an index: its records in the order in which a client gets them from a server of it.
    ///
    /// # Errors
    /// The index does not answer, or its catalog exceeds a bound.
    pub fn of_index(key: CatalogKey, index: &Index) -> Result<Self, FolderError> {
        let mut builder = SnapshotBuilder::new(key, SnapshotLimits::default());
        for bundle in (0..index.len()).filter_map(|place| index.listed(place)) {
            builder.add(&bundle.message()?)?;
        }
        for name in builder.packages() {
            let package = index.package(&name).map_err(|error| error.to_string());
            builder.add_package(name, package)?;
        }
        Ok(builder.finish())
    }
}
