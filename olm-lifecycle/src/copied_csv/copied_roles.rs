//! The rights of an operator in the namespaces that its group names (spec olm-operator 4.7).
//!
//! Roles and RoleBindings of the CSV are copied beside the copy of the CSV, which owns them: when
//! the namespace is no target any more, they go with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource as KubeResource;
use olm_effect::Effect;
use olm_rbac::{ComparisonBudget, CopyOwner, Grants, Scope, copy_binding, copy_role};
use olm_types::api::StrategyDetailsDeployment;
use olm_types::labels;
use olm_types::owner::is_owned_by_uid;
use serde::Serialize;
use serde_json::json;

use crate::operator_rights::{is_asked_for, is_for_operator, lacks_permissions};
use crate::writes::target_of;

/// What an operator has in its own namespace and in one target.
#[derive(Clone, Debug, Default)]
pub struct TargetRights {
    /// Roles of the operator's namespace with the CSV's owner labels.
    pub roles: Vec<Arc<Role>>,
    /// RoleBindings of the operator's namespace with the CSV's owner labels.
    pub bindings: Vec<Arc<RoleBinding>>,
    /// What the operator's accounts are granted in the target, by name of the account.
    pub grants: BTreeMap<String, Grants>,
    /// Those Roles of the target, by name, that are called like one of `roles`.
    pub present_roles: BTreeMap<String, Arc<Role>>,
    /// Those RoleBindings of the target, by name, that are called like one of `bindings`.
    pub present_bindings: BTreeMap<String, Arc<RoleBinding>>,
}

/// The writes that give the operator its rights in the namespace of its copy: of what it lacks,
/// and of copies that are not in step. What another owner made under these names is left alone.
pub fn decide_rights(
    strategy: &StrategyDetailsDeployment,
    origin_uid: &str,
    owner: CopyOwner<'_>,
    rights: &TargetRights,
) -> Vec<Effect> {
    let budget = ComparisonBudget::default();
    let roles = rights.roles.iter().map(AsRef::as_ref);
    let roles: Vec<&Role> = roles
        .filter(|role: &&Role| is_owned_by_uid(&role.metadata, origin_uid))
        .filter(|role| is_asked_for(strategy, role, &budget))
        .collect();
    let names: BTreeSet<&str> = roles.iter().map(|role| name(&role.metadata)).collect();
    let lacking = lacks_permissions(strategy, &rights.grants, Scope::Namespace);
    let bindings = rights.bindings.iter().map(AsRef::as_ref);
    let bindings = bindings
        .filter(|binding: &&RoleBinding| is_owned_by_uid(&binding.metadata, origin_uid))
        .filter(|binding| is_for_operator(strategy, owner.origin, binding, &names))
        .filter(|binding| lacking && !rights.present_bindings.contains_key(name(&binding.metadata)))
        .map(|binding| create(&copy_binding(binding, owner)));
    let roles = roles.iter().filter_map(|role| {
        let wanted = copy_role(role, owner);
        match rights.present_roles.get(name(&role.metadata)) {
            None => lacking.then(|| create(&wanted)),
            Some(present) => refresh(&wanted, present),
        }
    });
    roles.chain(bindings).collect()
}

/// New rules for a copy that was made before.
fn refresh(wanted: &Role, present: &Role) -> Option<Effect> {
    let copied_from = |metadata: &ObjectMeta| {
        metadata.labels.as_ref().and_then(|labels| labels.get(labels::COPIED_FROM).cloned())
    };
    let is_copy = copied_from(&present.metadata) == copied_from(&wanted.metadata);
    let patch = json!({
        "metadata": {"resourceVersion": present.metadata.resource_version},
        "rules": wanted.rules,
    });
    (is_copy && wanted.rules != present.rules)
        .then(|| Effect::merge(target_of(wanted), patch, None))
}

fn create<K>(wanted: &K) -> Effect
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    Effect::create(target_of(wanted), serde_json::to_value(wanted).unwrap_or_default())
}

fn name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}
