//! API services whose CSV is gone.

mod observe;
mod reconcile;

#[cfg(test)]
pub(crate) use observe::effects;
pub use reconcile::ApiServiceReconciler;
