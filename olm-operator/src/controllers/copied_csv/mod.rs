//! Copies of ClusterServiceVersions in the namespaces that their operators watch.

mod claims;
pub(crate) mod observe;
mod reconcile;
pub(crate) mod targets;

#[cfg(test)]
mod tests;

use olm_kit::ObjectKey;
use olm_kit::key::QueueKey;

pub use claims::Claims;
pub use reconcile::{CopyReconciler, LONGEST};
pub use targets::AT_ONCE;

/// The copies of an original: in one namespace, or in all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyKey {
    /// The original.
    pub origin: ObjectKey,
    /// Namespace of the copy; `None` for all copies.
    pub target: Option<String>,
}

impl CopyKey {
    /// All copies of the original.
    pub fn all(origin: ObjectKey) -> Self {
        Self { origin, target: None }
    }

    /// The copy in one namespace.
    pub fn one(origin: ObjectKey, target: &str) -> Self {
        Self { origin, target: Some(target.to_owned()) }
    }
}

impl QueueKey for CopyKey {
    fn namespace(&self) -> &str {
        self.origin.namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        &self.origin.name
    }
}
