//! OperatorGroups.

mod observe;
mod reconcile;

pub use reconcile::GroupReconciler;
