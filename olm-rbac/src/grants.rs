//! What a ServiceAccount is granted: the rules of the roles that bindings give to it.

use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};

use crate::account::Account;
use crate::coverage::{CoverageError, covers};
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
        let gatherer = Gatherer { view, account, claimant };
        Self { namespaced: gatherer.namespaced(namespace), cluster: gatherer.cluster_wide() }
    }

    /// Whether the account may do everything that `wanted` stands for. URLs are in no namespace,
    /// so that nothing which is granted in one is about them.
    pub fn satisfy(&self, scope: Scope, wanted: &PolicyRule) -> Result<bool, CoverageError> {
        let local: &[Granted] = match scope {
            Scope::Namespace if items(&wanted.non_resource_urls).is_empty() => &self.namespaced,
            Scope::Namespace | Scope::Cluster => &[],
        };
        let rules: Vec<&PolicyRule> =
            local.iter().chain(&self.cluster).flat_map(Granted::rules).collect();
        covers(&rules, wanted)
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
    account: &'a Account,
    claimant: &'a Claimant,
}

impl<V: RbacView> Gatherer<'_, V> {
    fn namespaced(&self, namespace: &str) -> Vec<Granted> {
        let bindings = self.view.role_bindings(namespace);
        bindings
            .iter()
            .filter(|binding| self.claimant.may_rely_on(&binding.metadata))
            .filter(|binding| self.binds(&binding.subjects, Some(namespace)))
            .filter_map(|binding| self.resolve(&binding.role_ref, Some(namespace)))
            .collect()
    }

    fn cluster_wide(&self) -> Vec<Granted> {
        let bindings = self.view.cluster_role_bindings();
        bindings
            .iter()
            .filter(|binding| self.claimant.may_rely_on(&binding.metadata))
            .filter(|binding| self.binds(&binding.subjects, None))
            .filter_map(|binding| self.resolve(&binding.role_ref, None))
            .collect()
    }

    fn binds(&self, subjects: &Option<Vec<Subject>>, namespace: Option<&str>) -> bool {
        subjects.iter().flatten().any(|subject| self.account.is(subject, namespace))
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
