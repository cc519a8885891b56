//! Copies of ClusterServiceVersions in the namespaces that their operators watch.

mod key;
mod observe;
mod reconcile;
mod targets;

pub use key::CopyKey;
pub use reconcile::CopyReconciler;

#[cfg(test)]
mod tests;
