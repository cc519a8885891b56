//! OperatorGroups.

pub(crate) mod observe;
mod reconcile;

pub use reconcile::GroupReconciler;
