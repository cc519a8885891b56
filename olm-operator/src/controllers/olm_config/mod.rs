//! The OLMConfig.

mod observe;
mod reconcile;

pub use reconcile::ConfigReconciler;
