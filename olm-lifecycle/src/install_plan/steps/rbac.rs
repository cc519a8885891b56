//! Steps for the rights that a CSV asks for (spec catalog-operator 3.10).
//!
//! Permissions are grouped by service account, the accounts sorted by name (v0 takes them in the
//! random order of a Go map). Each account gives its ServiceAccount, then Roles, RoleBindings,
//! ClusterRoles and ClusterRoleBindings in the order of the CSV. Names carry a hash of the
//! permission, so an upgrade with equal rights finds the objects of the version before.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, PolicyRule};
use olm_types::api::{StrategyDeploymentPermissions, StrategyDetailsDeployment};

use super::shapes::{
    Binding, ClusterNameInput, Meta, Permission, Role, RoleNameInput, RoleRef, Rules,
    ServiceAccount, Subject,
};
use super::{BundleError, StepSink, text};

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Appends the steps for all rights in `strategy`.
pub(super) fn append(
    sink: &mut StepSink<'_>,
    csv: &str,
    namespace: &str,
    strategy: &StrategyDetailsDeployment,
) -> Result<(), BundleError> {
    let owner = Owner { csv, namespace };
    sink.check_name("metadata.name of the CSV", csv)?;
    for (account, rights) in by_account(strategy) {
        sink.check_name("spec.install.spec: a serviceAccountName", account)?;
        append_account(sink, &owner, account, &rights)?;
    }
    Ok(())
}

/// The rights of one service account.
#[derive(Default)]
struct Rights<'a> {
    namespaced: Vec<&'a StrategyDeploymentPermissions>,
    cluster: Vec<&'a StrategyDeploymentPermissions>,
}

fn by_account(strategy: &StrategyDetailsDeployment) -> BTreeMap<&str, Rights<'_>> {
    let mut accounts: BTreeMap<&str, Rights<'_>> = BTreeMap::new();
    for permission in &strategy.permissions {
        let account = accounts.entry(&permission.service_account_name).or_default();
        account.namespaced.push(permission);
    }
    for permission in &strategy.cluster_permissions {
        accounts.entry(&permission.service_account_name).or_default().cluster.push(permission);
    }
    accounts
}

fn append_account(
    sink: &mut StepSink<'_>,
    owner: &Owner<'_>,
    account: &str,
    rights: &Rights<'_>,
) -> Result<(), BundleError> {
    if account != "default" {
        // An account that only cluster permissions name has no namespace in v0's manifest.
        let namespace = (!rights.namespaced.is_empty()).then_some(owner.namespace);
        let manifest =
            text::shaped(&ServiceAccount { metadata: owner.owned_meta(account, namespace) })?;
        sink.push(["", "v1", "ServiceAccount", account], manifest)?;
    }
    let roles = named(&rights.namespaced, |permission| owner.role_name(permission))?;
    append_pairs(sink, owner, account, &roles, Level::Namespace)?;
    let roles = named(&rights.cluster, |permission| owner.cluster_role_name(permission))?;
    append_pairs(sink, owner, account, &roles, Level::Cluster)
}

type Named<'a> = (String, &'a StrategyDeploymentPermissions);

fn named<'a>(
    permissions: &[&'a StrategyDeploymentPermissions],
    name: impl Fn(&StrategyDeploymentPermissions) -> Result<String, BundleError>,
) -> Result<Vec<Named<'a>>, BundleError> {
    permissions.iter().map(|permission| Ok((name(permission)?, *permission))).collect()
}

/// Where a role gives its rights.
#[derive(Clone, Copy)]
enum Level {
    Namespace,
    Cluster,
}

impl Level {
    fn role_kind(self) -> &'static str {
        match self {
            Self::Namespace => "Role",
            Self::Cluster => "ClusterRole",
        }
    }

    fn binding_kind(self) -> &'static str {
        match self {
            Self::Namespace => "RoleBinding",
            Self::Cluster => "ClusterRoleBinding",
        }
    }
}

/// All roles, then all bindings.
fn append_pairs(
    sink: &mut StepSink<'_>,
    owner: &Owner<'_>,
    account: &str,
    roles: &[Named<'_>],
    level: Level,
) -> Result<(), BundleError> {
    for (name, permission) in roles {
        let manifest = text::shaped(&owner.role(name, permission, level)?)?;
        sink.push([RBAC_GROUP, "v1", level.role_kind(), name], manifest)?;
    }
    for (name, _) in roles {
        let manifest = text::shaped(&owner.binding(name, account, level)?)?;
        sink.push([RBAC_GROUP, "v1", level.binding_kind(), name], manifest)?;
    }
    Ok(())
}

/// The CSV that the objects belong to.
struct Owner<'a> {
    csv: &'a str,
    namespace: &'a str,
}

impl Owner<'_> {
    fn role_name(&self, permission: &StrategyDeploymentPermissions) -> Result<String, BundleError> {
        let input = RoleNameInput { name: self.csv, permission: Permission::from(permission) };
        let base = format!("{}-{}", self.csv, permission.service_account_name);
        Ok(hashed_name(&base, &text::compact(&input)?))
    }

    fn cluster_role_name(
        &self,
        permission: &StrategyDeploymentPermissions,
    ) -> Result<String, BundleError> {
        let permission = Permission::from(permission);
        let input = ClusterNameInput { name: self.csv, namespace: self.namespace, permission };
        Ok(hashed_name(self.csv, &text::compact(&input)?))
    }

    fn role<'a>(
        &'a self,
        name: &'a str,
        permission: &'a StrategyDeploymentPermissions,
        level: Level,
    ) -> Result<Role<'a>, BundleError> {
        let rules = Rules::from(permission.rules.as_slice());
        let content = text::compact(&rules)?;
        let mut metadata = match level {
            Level::Namespace => self.owned_meta(name, Some(self.namespace)),
            Level::Cluster => Meta::named(name),
        };
        metadata.labels = self.labels(&content);
        Ok(Role { metadata, rules })
    }

    /// The binding object of a ClusterRole carries a namespace although it is cluster-scoped, as
    /// in v0; the API server drops it.
    fn binding<'a>(
        &'a self,
        role: &'a str,
        account: &'a str,
        level: Level,
    ) -> Result<Binding<'a>, BundleError> {
        let subjects =
            [Subject { kind: "ServiceAccount", name: account, namespace: self.namespace }];
        let role_ref = RoleRef { api_group: RBAC_GROUP, kind: level.role_kind(), name: role };
        let content = text::compact(&super::shapes::BindingContent {
            role_ref: &role_ref,
            subjects: &subjects,
        })?;
        let mut metadata = match level {
            Level::Namespace => self.owned_meta(role, Some(self.namespace)),
            Level::Cluster => Meta { namespace: Some(self.namespace), ..Meta::named(role) },
        };
        metadata.labels = self.labels(&content);
        Ok(Binding { metadata, subjects, role_ref })
    }

    fn owned_meta<'a>(&'a self, name: &'a str, namespace: Option<&'a str>) -> Meta<'a> {
        Meta { namespace, ..Meta::owned(name, self.csv) }
    }

    fn labels(&self, content: &str) -> BTreeMap<String, String> {
        let mut labels =
            olm_types::owner::owner_labels(self.csv, self.namespace, "ClusterServiceVersion");
        labels.insert(olm_types::labels::PERMISSIONS_HASH.to_owned(), content_hash(content));
        labels
    }
}

/// The hash that the label of a role with these rules carries.
pub(crate) fn rules_hash(rules: &[PolicyRule]) -> Option<String> {
    text::compact(&Rules::from(rules)).ok().map(|content| content_hash(&content))
}

/// The hash that the label of a binding carries.
pub(crate) fn binding_hash(binding: &ClusterRoleBinding) -> Option<String> {
    let reference = &binding.role_ref;
    let role_ref = RoleRef {
        api_group: reference.api_group.as_deref().unwrap_or(RBAC_GROUP),
        kind: &reference.kind,
        name: &reference.name,
    };
    let subjects = binding.subjects.iter().flatten().map(|subject| Subject {
        kind: &subject.kind,
        name: &subject.name,
        namespace: subject.namespace.as_deref().unwrap_or_default(),
    });
    let subjects: Vec<Subject<'_>> = subjects.collect();
    let content = super::shapes::BindingContent { role_ref: &role_ref, subjects: &subjects };
    text::compact(&content).ok().map(|content| content_hash(&content))
}

fn content_hash(content: &str) -> String {
    olm_types::hash::base62_sha224(content.as_bytes())
}

fn hashed_name(base: &str, input: &str) -> String {
    olm_types::hash::generate_name(base, &olm_types::hash::deep_hash(input))
}
