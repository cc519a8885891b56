//! ClusterServiceVersions.

mod observe;
mod reconcile;

pub use reconcile::CsvReconciler;
