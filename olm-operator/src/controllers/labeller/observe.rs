//! Finds the object that may lack a label.

use olm_lifecycle::labeller::Labelled;

use crate::components::{ComponentId, ComponentKind};
use crate::stores::Stores;

/// The object, if it exists and is of a kind that this operator labels.
pub(super) fn observe(stores: &Stores, id: &ComponentId) -> Option<Labelled> {
    let key = &id.key;
    match id.kind {
        ComponentKind::Deployment => stores.deployments.get_key(key).map(Labelled::Deployment),
        ComponentKind::ClusterRole => stores.cluster_roles.get_key(key).map(Labelled::ClusterRole),
        ComponentKind::ClusterRoleBinding => {
            stores.cluster_role_bindings.get_key(key).map(Labelled::ClusterRoleBinding)
        }
        _ => None,
    }
}
