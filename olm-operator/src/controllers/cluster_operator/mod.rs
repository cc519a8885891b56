//! ClusterOperators, on OpenShift and when a flag names them.

mod observe;
mod reconcile;
mod report;
mod successes;

pub use reconcile::ClusterOperatorReconciler;
pub use report::{Names, Report};
pub use successes::Successes;
