//! What an operator asks for, and which Roles and RoleBindings give it exactly that.
//!
//! Rights of a CSV's own namespace are given in more namespaces when its group says so. Labels and
//! owners can be forged by whoever may write Roles in that namespace; what the CSV asks for cannot.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding};
use olm_rbac::{Account, ComparisonBudget, Grants, Scope, covers};
use olm_types::api::{StrategyDeploymentPermissions, StrategyDetailsDeployment};

/// Whether the role holds nothing but what the CSV asks for in the namespaces that it watches.
pub(crate) fn is_asked_for(
    strategy: &StrategyDetailsDeployment,
    role: &Role,
    budget: &ComparisonBudget,
) -> bool {
    let asked: Vec<&PolicyRule> =
        strategy.permissions.iter().flat_map(|block| &block.rules).collect();
    let mut rules = role.rules.iter().flatten();
    rules.all(|rule| matches!(covers(&asked, rule, budget), Ok(true)))
}

/// Whether the binding gives one of `roles` to accounts of `namespace` that the CSV names, and to
/// no other account.
pub(crate) fn is_for_operator(
    strategy: &StrategyDetailsDeployment,
    namespace: &str,
    binding: &RoleBinding,
    roles: &BTreeSet<&str>,
) -> bool {
    let named: BTreeSet<&str> =
        strategy.permissions.iter().map(|block| block.service_account_name.as_str()).collect();
    let is_named = |subject| {
        let account = Account::of_subject(subject, Some(namespace));
        account.is_some_and(|account| {
            account.namespace == namespace && named.contains(account.name.as_str())
        })
    };
    binding.role_ref.kind == "Role"
        && roles.contains(binding.role_ref.name.as_str())
        && binding.subjects.iter().flatten().all(is_named)
}

/// Whether the operator's accounts lack something of `permissions` at `scope`, although they hold
/// all cluster permissions. Before that, whoever grants rights is still at it, and what is missing
/// may come or may turn out to be covered.
pub(crate) fn lacks_permissions(
    strategy: &StrategyDetailsDeployment,
    grants: &BTreeMap<String, Grants>,
    scope: Scope,
) -> bool {
    let budget = ComparisonBudget::default();
    is_held(&strategy.cluster_permissions, grants, Scope::Cluster, &budget)
        && !is_held(&strategy.permissions, grants, scope, &budget)
}

fn is_held(
    blocks: &[StrategyDeploymentPermissions],
    grants: &BTreeMap<String, Grants>,
    scope: Scope,
    budget: &ComparisonBudget,
) -> bool {
    blocks.iter().all(|block| {
        let held = grants.get(&block.service_account_name);
        let mut rules = block.rules.iter();
        held.is_some_and(|held| {
            rules.all(|rule| matches!(held.satisfy(scope, rule, budget), Ok(true)))
        })
    })
}
