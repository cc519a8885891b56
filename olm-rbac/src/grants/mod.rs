//! What a ServiceAccount is granted: the rules of the roles that bindings give to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::account::Account;
use crate::coverage::{ComparisonBudget, CoverageError, covers};
use crate::ownership::Claimant;
use crate::rule::items;

/// Where RBAC objects come from; a binary implements this on its watch stores.
pub trait RbacView {
    /// The Role of that name.
    fn role(&self, namespace: &str, name: &str) -> Option<Arc<Role>>;
    /// The ClusterRole of that name.
    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>>;
    /// All RoleBindings of a namespace.
    fn role_bindings(&self, namespace: &str) -> Vec<Arc<RoleBinding>>;
    /// All ClusterRoleBindings.
    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>>;
}

/// Where a right is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In the namespace for which the grants were gathered.
    Namespace,
    /// In every namespace and on cluster-scoped objects.
    Cluster,
}

/// The roles that one account holds in one namespace and in the whole cluster.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    namespaced: Vec<Granted>,
    cluster: Vec<Granted>,
}

#[derive(Clone, Debug)]
enum Granted {
    Role(Arc<Role>),
    ClusterRole(Arc<ClusterRole>),
}

impl Grants {
    /// Gathers what `account` holds in `namespace` and cluster-wide. Objects on
    /// which the claimant may not rely are hidden.
    pub fn gather(
        view: &impl RbacView,
        account: &Account,
        namespace: &str,
        claimant: &Claimant,
    ) -> Self {
        let accounts = BTreeSet::from([account.clone()]);
        Self::gather_all(view, &accounts, namespace, claimant)
            .into_values()
            .next()
            .unwrap_or_default()
    }

    /// What each of these accounts holds, as [`Self::gather`]. Every binding is looked at once: a CSV may
    /// name as many accounts, and a binding as many subjects, as an object can hold.
    pub fn gather_all(
        view: &impl RbacView,
        accounts: &BTreeSet<Account>,
        namespace: &str,
        claimant: &Claimant,
    ) -> BTreeMap<String, Self> {
        let gatherer = Gatherer { view, accounts, claimant };
        let mut all: BTreeMap<String, Self> =
            accounts.iter().map(|account| (account.name.clone(), Self::default())).collect();
        for binding in view.role_bindings(namespace) {
            let RoleBinding { metadata, role_ref, subjects } = &*binding;
            let given = gatherer.given((metadata, role_ref, subjects), Some(namespace));
            for (name, granted) in given {
                all.entry(name).or_default().namespaced.push(granted);
            }
        }
        for binding in view.cluster_role_bindings() {
            let ClusterRoleBinding { metadata, role_ref, subjects } = &*binding;
            for (name, granted) in gatherer.given((metadata, role_ref, subjects), None) {
                all.entry(name).or_default().cluster.push(granted);
            }
        }
        all
    }

    /// Whether the account may do everything that `wanted` stands for. URLs are in no namespace,
    /// so that nothing which is granted in one is about them.
    ///
    /// # Errors
    /// The rule, or all that was checked with this budget, is too large.
    pub fn satisfy(
        &self,
        scope: Scope,
        wanted: &PolicyRule,
        budget: &ComparisonBudget,
    ) -> Result<bool, CoverageError> {
        let local: &[Granted] = match scope {
            Scope::Namespace if items(&wanted.non_resource_urls).is_empty() => &self.namespaced,
            Scope::Namespace | Scope::Cluster => &[],
        };
        let rules: Vec<&PolicyRule> =
            local.iter().chain(&self.cluster).flat_map(Granted::rules).collect();
        covers(&rules, wanted, budget)
    }
}

impl Granted {
    fn rules(&self) -> &[PolicyRule] {
        let rules = match self {
            Self::Role(role) => &role.rules,
            Self::ClusterRole(role) => &role.rules,
        };
        rules.as_deref().unwrap_or_default()
    }
}

struct Gatherer<'a, V> {
    view: &'a V,
    accounts: &'a BTreeSet<Account>,
    claimant: &'a Claimant,
}

/// What a binding says.
type Binding<'a> = (&'a ObjectMeta, &'a RoleRef, &'a Option<Vec<Subject>>);

impl<V: RbacView> Gatherer<'_, V> {
    /// The role of a binding for each of the accounts to which it is given, by their names.
    fn given(
        &self,
        (metadata, role_ref, subjects): Binding<'_>,
        namespace: Option<&str>,
    ) -> Vec<(String, Granted)> {
        if !self.claimant.may_rely_on(metadata) {
            return Vec::new();
        }
        let named = subjects.iter().flatten();
        let named = named.filter_map(|subject| Account::of_subject(subject, namespace));
        let named: BTreeSet<Account> = named.filter(|one| self.accounts.contains(one)).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let Some(granted) = self.resolve(role_ref, namespace) else { return Vec::new() };
        named.into_iter().map(|account| (account.name, granted.clone())).collect()
    }

    fn resolve(&self, role_ref: &RoleRef, namespace: Option<&str>) -> Option<Granted> {
        match (role_ref.kind.as_str(), namespace) {
            ("Role", Some(namespace)) => self
                .view
                .role(namespace, &role_ref.name)
                .filter(|role| self.claimant.may_rely_on(&role.metadata))
                .map(Granted::Role),
            ("ClusterRole", _) => self
                .view
                .cluster_role(&role_ref.name)
                .filter(|role| self.claimant.may_rely_on(&role.metadata))
                .map(Granted::ClusterRole),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
