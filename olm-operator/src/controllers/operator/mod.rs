//! Operators: what belongs together, as their status lists it.

mod observe;
mod reconcile;

pub use reconcile::OperatorReconciler;
