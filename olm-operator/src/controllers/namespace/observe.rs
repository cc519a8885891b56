//! Assembles what a look at a namespace needs. Decides nothing.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use olm_types::api::OperatorGroup;

use crate::stores::Stores;

/// A namespace and all groups of the cluster.
pub struct Observed {
    /// The namespace.
    pub namespace: Arc<Namespace>,
    /// The groups.
    pub groups: Vec<Arc<OperatorGroup>>,
}

/// The namespace of this name and the groups; `None` when it is gone.
pub fn observe(stores: &Stores, name: &str) -> Option<Observed> {
    Some(Observed { namespace: stores.namespaces.get(None, name)?, groups: stores.groups.list() })
}
