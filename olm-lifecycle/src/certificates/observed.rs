//! The objects behind the servers of a CSV, as the watch stores show them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::Issued;

/// What exists of the objects that serving takes. Empty for a CSV that serves nothing.
#[derive(Clone, Debug, Default)]
pub struct ServingObjects {
    /// Services of the CSV's servers, by name.
    pub services: BTreeMap<String, Arc<Service>>,
    /// Secrets of the CSV's servers, by name.
    pub secrets: BTreeMap<String, Arc<Secret>>,
    /// Roles that let those Secrets be read, by name.
    pub roles: BTreeMap<String, Arc<Role>>,
    /// RoleBindings that let those Secrets be read, by name.
    pub role_bindings: BTreeMap<String, Arc<RoleBinding>>,
    /// ClusterRoleBindings to `system:auth-delegator`, by name.
    pub auth_delegators: BTreeMap<String, Arc<ClusterRoleBinding>>,
    /// RoleBindings in `kube-system`, by name.
    pub auth_readers: BTreeMap<String, Arc<RoleBinding>>,
    /// Names of those ServiceAccounts of the servers that exist.
    pub accounts: BTreeSet<String>,
    /// Validating webhook configurations with the CSV's owner labels, in order of their names.
    pub validating: Vec<Arc<ValidatingWebhookConfiguration>>,
    /// Mutating webhook configurations with the CSV's owner labels, in order of their names.
    pub mutating: Vec<Arc<MutatingWebhookConfiguration>>,
    /// API services with the CSV's owner labels, in order of their names.
    pub labelled_api_services: Vec<Arc<APIService>>,
    /// Names of those of the CSV's API services whose labels name a CSV that does not exist.
    pub abandoned_api_services: BTreeSet<String>,
    /// Certificates that were issued because an earlier look at the same objects asked for them.
    pub issued: Option<Issued>,
}
