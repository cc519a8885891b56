//! What a pass looks at: the CSV and everything around it that a rule may ask about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::Target;
use olm_opgroup::LiveNamespaces;
use olm_rbac::Grants;
use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionStatus, CsvPhase, OperatorCondition, OperatorGroup,
};
use olm_types::gvk::Gvk;
use olm_types::{annotations, labels, reasons};
use serde_json::Value;

use crate::certificates::{ServingCsv, ServingObjects};
use crate::install::Overrides;
use crate::tenancy::Trust;

/// A CSV and its surroundings, as the watch stores show them at one moment.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The CSV that the pass is about.
    pub csv: Arc<ClusterServiceVersion>,
    /// The other CSVs of the namespace, copies left out, in order of their names.
    pub siblings: Vec<Arc<ClusterServiceVersion>>,
    /// Names of the CSVs of the namespace whose InstallPlan is being executed.
    pub installing: BTreeSet<String>,
    /// All OperatorGroups of the cluster.
    pub operator_groups: Vec<Arc<OperatorGroup>>,
    /// The Namespaces, from which it follows what groups give.
    pub namespaces: LiveNamespaces,
    /// What the Subscription that installed the CSV, and the cluster's proxy, change in its
    /// Deployments.
    pub overrides: Overrides,
    /// Deployments of the namespace, by name.
    pub deployments: BTreeMap<String, Arc<Deployment>>,
    /// Those ServiceAccounts that the strategy names and that exist, by name.
    pub service_accounts: BTreeMap<String, Arc<ServiceAccount>>,
    /// What the ServiceAccounts of the strategy are granted, by name of the account.
    pub grants: BTreeMap<String, Grants>,
    /// Roles of the namespace that carry the CSV's owner labels.
    pub roles: Vec<Arc<Role>>,
    /// RoleBindings of the namespace that carry the CSV's owner labels.
    pub role_bindings: Vec<Arc<RoleBinding>>,
    /// Those ClusterRoles, by name, that are called like one of `roles` or like a role of an API
    /// that the CSV owns.
    pub cluster_roles: BTreeMap<String, Arc<ClusterRole>>,
    /// Those ClusterRoleBindings, by name, that are called like one of `role_bindings`.
    pub cluster_role_bindings: BTreeMap<String, Arc<ClusterRoleBinding>>,
    /// Those CustomResourceDefinitions that the CSV owns or requires and that exist, by name.
    pub crds: BTreeMap<String, Arc<CustomResourceDefinition>>,
    /// Those API services that the CSV owns or requires and that exist, by name.
    pub api_services: BTreeMap<String, Arc<APIService>>,
    /// What exists of the objects that serving APIs and webhooks takes.
    pub serving: ServingObjects,
    /// OperatorConditions of the namespace, by name.
    pub operator_conditions: BTreeMap<String, Arc<OperatorCondition>>,
    /// Cluster-scoped objects that carry the CSV's owner labels.
    pub cluster_owned: Vec<ClusterOwned>,
    /// `gitVersion` of the API server; absent while it could not be read.
    pub server_version: Option<String>,
    /// Whether the API server serves an API; only those that an earlier pass asked for with a
    /// [`super::Request`].
    pub served: BTreeMap<Gvk, bool>,
    /// Objects that no store holds; only those that an earlier pass asked for.
    pub live: BTreeMap<Target, Option<Value>>,
    /// Pods of the CSV's Deployments; only when an earlier pass asked for them.
    pub pods: Option<Vec<Pod>>,
    /// Whether something that a failed install depends on changed since the last pass: the CSV's
    /// spec, rights or service accounts in the namespace, its OperatorGroup.
    pub cluster_changed: bool,
    /// Who may have something done beyond his namespace.
    pub trust: Trust,
}

/// A cluster-scoped object that goes when the CSV goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterOwned {
    /// The object.
    pub target: Target,
    /// Its uid.
    pub uid: Option<String>,
    /// Whether its deletion was asked for already.
    pub is_going: bool,
}

impl Observed {
    /// Name of the CSV.
    pub fn name(&self) -> &str {
        self.csv.metadata.name.as_deref().unwrap_or_default()
    }

    /// Namespace of the CSV.
    pub fn namespace(&self) -> &str {
        self.csv.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// `metadata.uid` of the CSV.
    pub fn uid(&self) -> &str {
        self.csv.metadata.uid.as_deref().unwrap_or_default()
    }

    /// The status; an empty one when there is none yet.
    pub fn status(&self) -> ClusterServiceVersionStatus {
        self.csv.status.clone().unwrap_or_default()
    }

    /// The current phase.
    pub fn phase(&self) -> CsvPhase {
        self.csv.phase()
    }

    /// The current reason; empty when there is none.
    pub fn reason(&self) -> &str {
        let reason = self.csv.status.as_ref().and_then(|status| status.reason.as_deref());
        reason.unwrap_or_default()
    }

    /// An annotation of the CSV.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.csv.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// The OperatorGroups of the CSV's namespace.
    pub fn own_groups(&self) -> Vec<&OperatorGroup> {
        self.serving_csv().own_groups()
    }

    /// What API services and webhooks of the CSV follow from.
    pub fn serving_csv(&self) -> ServingCsv<'_> {
        ServingCsv {
            csv: &self.csv,
            siblings: &self.siblings,
            operator_groups: &self.operator_groups,
            namespaces: &self.namespaces,
            overrides: &self.overrides,
            deployments: &self.deployments,
            crds: &self.crds,
            api_services: &self.api_services,
            serving: &self.serving,
            served: &self.served,
            live: &self.live,
            trust: &self.trust,
        }
    }
}

/// Whether a CSV is a copy that stands for an operator in another namespace.
pub fn is_copied(csv: &ClusterServiceVersion) -> bool {
    let reason = csv.status.as_ref().and_then(|status| status.reason.as_deref());
    let labels = csv.metadata.labels.as_ref();
    let home = csv.metadata.annotations.as_ref();
    let home = home.and_then(|all| all.get(annotations::OPERATOR_NAMESPACE));
    reason == Some(reasons::csv::COPIED)
        || labels.is_some_and(|all| all.contains_key(labels::COPIED_FROM))
        || home.is_some_and(|home| Some(home) != csv.metadata.namespace.as_ref())
}
