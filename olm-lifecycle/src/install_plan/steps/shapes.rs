//! The objects of a CSV's rights with their fields in the order in which Go declares them.
//!
//! Names and labels contain hashes of this text, so order and omission of empty fields are part of
//! the contract (spec catalog-operator 0.2).

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_types::api::StrategyDeploymentPermissions;
use serde::Serialize;

/// Object metadata, as far as generated objects use it.
#[derive(Serialize)]
pub(super) struct Meta<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(rename = "ownerReferences", skip_serializing_if = "Option::is_none")]
    pub(super) owner_references: Option<[OwnerRef<'a>; 1]>,
}

impl<'a> Meta<'a> {
    /// Only a name.
    pub(super) fn named(name: &'a str) -> Self {
        Self { name, namespace: None, labels: BTreeMap::new(), owner_references: None }
    }

    /// Owned by a CSV whose uid is filled in when the step is executed.
    pub(super) fn owned(name: &'a str, csv: &'a str) -> Self {
        Self { owner_references: Some([OwnerRef::unborn(csv)]), ..Self::named(name) }
    }
}

/// A non-blocking reference to the owning CSV.
#[derive(Serialize)]
pub(super) struct OwnerRef<'a> {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    kind: &'static str,
    name: &'a str,
    uid: &'static str,
    controller: bool,
    #[serde(rename = "blockOwnerDeletion")]
    block_owner_deletion: bool,
}

impl<'a> OwnerRef<'a> {
    fn unborn(csv: &'a str) -> Self {
        Self {
            api_version: "operators.coreos.com/v1alpha1",
            kind: "ClusterServiceVersion",
            name: csv,
            uid: "",
            controller: false,
            block_owner_deletion: false,
        }
    }
}

/// A ServiceAccount.
#[derive(Serialize)]
pub(super) struct ServiceAccount<'a> {
    pub(super) metadata: Meta<'a>,
}

/// A Role or ClusterRole.
#[derive(Serialize)]
pub(super) struct Role<'a> {
    pub(super) metadata: Meta<'a>,
    pub(super) rules: Rules<'a>,
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Serialize)]
pub(super) struct Binding<'a> {
    pub(super) metadata: Meta<'a>,
    pub(super) subjects: [Subject<'a>; 1],
    #[serde(rename = "roleRef")]
    pub(super) role_ref: RoleRef<'a>,
}

/// What the content hash of a binding is made of.
#[derive(Serialize)]
pub(super) struct BindingContent<'a> {
    #[serde(rename = "RoleRef")]
    pub(super) role_ref: &'a RoleRef<'a>,
    #[serde(rename = "Subjects")]
    pub(super) subjects: &'a [Subject<'a>],
}

/// Which role a binding gives.
#[derive(Serialize)]
pub(super) struct RoleRef<'a> {
    #[serde(rename = "apiGroup")]
    pub(super) api_group: &'a str,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
}

/// Whom a binding gives it to.
#[derive(Serialize)]
pub(super) struct Subject<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
}

/// What the name of a Role is made of.
#[derive(Serialize)]
pub(super) struct RoleNameInput<'a> {
    pub(super) name: &'a str,
    pub(super) permission: Permission<'a>,
}

/// What the name of a ClusterRole is made of.
#[derive(Serialize)]
pub(super) struct ClusterNameInput<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) permission: Permission<'a>,
}

/// One entry of `permissions` or `clusterPermissions`.
#[derive(Serialize)]
pub(super) struct Permission<'a> {
    #[serde(rename = "serviceAccountName")]
    service_account_name: &'a str,
    rules: Rules<'a>,
}

impl<'a> From<&'a StrategyDeploymentPermissions> for Permission<'a> {
    fn from(permission: &'a StrategyDeploymentPermissions) -> Self {
        Self {
            service_account_name: &permission.service_account_name,
            rules: Rules::from(permission.rules.as_slice()),
        }
    }
}

/// Rules of a role; Go prints an absent list as `null`.
#[derive(Serialize)]
pub(super) struct Rules<'a>(Option<Vec<Rule<'a>>>);

impl<'a> From<&'a [PolicyRule]> for Rules<'a> {
    fn from(rules: &'a [PolicyRule]) -> Self {
        Self((!rules.is_empty()).then(|| rules.iter().map(Rule::from).collect()))
    }
}

#[derive(Serialize)]
struct Rule<'a> {
    verbs: Option<&'a [String]>,
    #[serde(rename = "apiGroups", skip_serializing_if = "<[String]>::is_empty")]
    api_groups: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    resources: &'a [String],
    #[serde(rename = "resourceNames", skip_serializing_if = "<[String]>::is_empty")]
    resource_names: &'a [String],
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "<[String]>::is_empty")]
    non_resource_urls: &'a [String],
}

impl<'a> From<&'a PolicyRule> for Rule<'a> {
    fn from(rule: &'a PolicyRule) -> Self {
        Self {
            verbs: (!rule.verbs.is_empty()).then_some(&rule.verbs),
            api_groups: rule.api_groups.as_deref().unwrap_or_default(),
            resources: rule.resources.as_deref().unwrap_or_default(),
            resource_names: rule.resource_names.as_deref().unwrap_or_default(),
            non_resource_urls: rule.non_resource_urls.as_deref().unwrap_or_default(),
        }
    }
}
