//! The ClusterRoles of a group (spec olm-operator 4.4 step 5, 4.6).

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_effect::Effect;
use olm_opgroup::{ApiSet, group_apis, provided_apis};
use olm_rbac::{GROUP_KIND, Level, group_role_name, group_roles};
use olm_types::owner::{OwnerName, is_owned_by_label};

use super::Observed;
use crate::role_writes;

/// The writes that give the group its roles, for the APIs of its members and of its annotation. They are objects
/// of the cluster: of many groups of a namespace only the oldest have any.
pub(super) fn ensure(observed: &Observed) -> Vec<Effect> {
    let metadata = &observed.group.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    if !observed.is_oldest {
        return decide_gone(namespace, name, &observed.roles);
    }
    let wanted = group_roles(namespace, name, &role_apis(observed));
    let present = |role: &ClusterRole| {
        let named = |found: &&Arc<ClusterRole>| found.metadata.name == role.metadata.name;
        observed.roles.iter().find(named).map(AsRef::as_ref)
    };
    wanted.iter().filter_map(|role| role_writes::cluster_role(role, present(role))).collect()
}

/// The APIs that the roles of a group are for.
pub fn role_apis(observed: &Observed) -> ApiSet {
    let provided = observed.members.iter().flat_map(|csv| provided_apis(&csv.spec));
    provided.chain(group_apis(&observed.group)).collect()
}

/// Names of the roles of the group `namespace/name`.
pub fn role_names(namespace: &str, name: &str) -> BTreeSet<String> {
    Level::ALL.into_iter().map(|level| group_role_name(namespace, name, level)).collect()
}

/// The deletions after the group `namespace/name` is gone. `roles` may hold any ClusterRoles; those
/// go that have both the name and the labels of a role of the group.
pub fn decide_gone(namespace: &str, name: &str, roles: &[Arc<ClusterRole>]) -> Vec<Effect> {
    let names = role_names(namespace, name);
    let owner = OwnerName { kind: GROUP_KIND, namespace, name };
    let is_its = |role: &&Arc<ClusterRole>| {
        let metadata = &role.metadata;
        metadata.name.as_ref().is_some_and(|name| names.contains(name))
            && metadata.labels.as_ref().is_some_and(|labels| is_owned_by_label(labels, owner))
            && metadata.deletion_timestamp.is_none()
    };
    roles.iter().filter(is_its).map(|role| role_writes::delete(role.as_ref())).collect()
}
