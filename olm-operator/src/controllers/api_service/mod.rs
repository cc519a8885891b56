//! API services whose CSV is gone.

mod observe;
mod reconcile;

#[cfg(test)]
pub(crate) use observe::observe;
pub use reconcile::ApiServiceReconciler;
