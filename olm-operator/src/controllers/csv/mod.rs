//! ClusterServiceVersions.

mod observe;
mod pods;
mod reconcile;

pub use reconcile::CsvReconciler;
