//! An operator that watches all namespaces holds its rights in all of them (spec olm-operator 4.7).
//!
//! What it was granted in its own namespace is lifted: each Role and RoleBinding of the CSV gets a
//! ClusterRole and a ClusterRoleBinding of the same name, as far as the CSV asks for it
//! ([`crate::operator_rights`]). When the group stops to be global, what was lifted goes.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::Role;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_effect::Effect;
use olm_opgroup::active_targets;
use olm_rbac::{ComparisonBudget, Scope, lift_binding, lift_role};
use olm_types::api::StrategyDetailsDeployment;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::install::is_ours;
use crate::operator_rights::{is_asked_for, is_for_operator, lacks_permissions};
use crate::role_writes;

/// Lifts rights for a global group, and takes back what was lifted for another one.
pub struct GlobalRights;

impl Stage for GlobalRights {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let effects = effects(pass.observed);
        if effects.is_empty() { Verdict::Continue } else { Verdict::Stop(Decision::act(effects)) }
    }
}

fn effects(observed: &Observed) -> Vec<Effect> {
    let none = std::collections::BTreeMap::new();
    let annotations = observed.csv.metadata.annotations.as_ref().unwrap_or(&none);
    let groups = observed.operator_groups.iter().map(AsRef::as_ref);
    let targets = active_targets(observed.namespace(), annotations, groups, &observed.namespaces);
    let strategy = observed.csv.spec.install.spec.as_ref();
    let (Some(targets), Some(strategy)) = (targets, strategy) else { return Vec::new() };
    if targets.is_all() { lift(observed, strategy) } else { take_back(observed) }
}

/// Writes for those roles whose rights the operator lacks, or that were lifted before and changed.
fn lift(observed: &Observed, strategy: &StrategyDetailsDeployment) -> Vec<Effect> {
    let roles = observed.roles.iter().map(AsRef::as_ref);
    let budget = ComparisonBudget::default();
    let roles: Vec<&Role> = roles.filter(|role| is_asked_for(strategy, role, &budget)).collect();
    let names: BTreeSet<&str> = roles.iter().map(|role| name(&role.metadata)).collect();
    let lacking = lacks_permissions(strategy, &observed.grants, Scope::Cluster);
    let is_due = |present: Option<&ObjectMeta>| match present {
        Some(present) => is_ours(&observed.csv, present),
        None => lacking,
    };
    let roles = roles.into_iter().filter_map(|role| {
        let present = observed.cluster_roles.get(name(&role.metadata)).map(AsRef::as_ref);
        let due = is_due(present.map(|present| &present.metadata));
        due.then(|| role_writes::cluster_role(&lift_role(role), present)).flatten()
    });
    let bindings = observed.role_bindings.iter().map(AsRef::as_ref);
    let bindings = bindings
        .filter(|binding| is_for_operator(strategy, observed.namespace(), binding, &names))
        .filter_map(|binding| {
            let present = observed.cluster_role_bindings.get(name(&binding.metadata));
            let present = present.map(AsRef::as_ref);
            let due = is_due(present.map(|present| &present.metadata));
            let wanted = lift_binding(binding);
            due.then(|| role_writes::cluster_role_binding(&wanted, present)).flatten()
        });
    roles.chain(bindings).collect()
}

/// Deletions of what carries both the CSV's labels and the name of one of its roles.
fn take_back(observed: &Observed) -> Vec<Effect> {
    let is_left = |metadata: &ObjectMeta| {
        is_ours(&observed.csv, metadata) && metadata.deletion_timestamp.is_none()
    };
    let bindings = observed.role_bindings.iter().filter_map(|binding| {
        let lifted = observed.cluster_role_bindings.get(name(&binding.metadata))?;
        is_left(&lifted.metadata).then(|| role_writes::delete(lifted.as_ref()))
    });
    let roles = observed.roles.iter().filter_map(|role| {
        let lifted = observed.cluster_roles.get(name(&role.metadata))?;
        is_left(&lifted.metadata).then(|| role_writes::delete(lifted.as_ref()))
    });
    bindings.chain(roles).collect()
}

fn name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}
