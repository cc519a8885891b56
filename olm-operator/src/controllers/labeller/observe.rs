//! Finds the object that may lack a label, and asks what to do about it.

use olm_effect::Effect;
use olm_lifecycle::labeller;

use crate::components::{ComponentId, ComponentKind};
use crate::stores::Stores;

/// The kinds that this operator labels; those of other kinds are the catalog operator's.
pub fn effects(stores: &Stores, id: &ComponentId) -> Vec<Effect> {
    let found = match id.kind {
        ComponentKind::Deployment => {
            stores.deployments.get_key(&id.key).map(|found| labeller::label_deployment(&found))
        }
        ComponentKind::ClusterRole => {
            stores.cluster_roles.get_key(&id.key).map(|found| labeller::label_cluster_role(&found))
        }
        ComponentKind::ClusterRoleBinding => stores
            .cluster_role_bindings
            .get_key(&id.key)
            .map(|found| labeller::label_cluster_role_binding(&found)),
        _ => None,
    };
    found.unwrap_or_default()
}
