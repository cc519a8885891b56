//! OperatorConditions: one for every CSV, the rights to write it, and what was taken notice of.

mod observe;
mod reconcile;

pub use reconcile::ConditionReconciler;
