//! Copies of ClusterServiceVersions in the namespaces that their operators watch.

mod claims;
mod key;
pub(crate) mod observe;
mod reconcile;
pub(crate) mod targets;

pub use claims::Claims;
pub use key::CopyKey;
pub use reconcile::{CopyReconciler, LONGEST};
pub use targets::AT_ONCE;

#[cfg(test)]
mod tests;
