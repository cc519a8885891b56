//! Copies of ClusterServiceVersions in the namespaces that their operators watch.

mod key;
pub(crate) mod observe;
mod reconcile;
pub(crate) mod targets;

pub use key::CopyKey;
pub use reconcile::CopyReconciler;

#[cfg(test)]
mod tests;
