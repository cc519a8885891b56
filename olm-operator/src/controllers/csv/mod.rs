//! ClusterServiceVersions.

pub(crate) mod observe;
mod pods;
mod reconcile;

pub use reconcile::CsvReconciler;
