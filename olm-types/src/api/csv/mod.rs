//! ClusterServiceVersion: one version of an operator, how it is installed, what it provides and
//! what it requires.

mod apis;
mod install;
mod install_mode;
mod presentation;
mod status;
mod webhook;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};

pub use apis::{
    ApiResourceReference, ApiServiceDefinitions, ApiServiceDescription, CrdDescription,
    CustomResourceDefinitions, Descriptor, NativeApi,
};
pub use install::{
    NamedInstallStrategy, STRATEGY_DEPLOYMENT, StrategyDeploymentPermissions,
    StrategyDeploymentSpec, StrategyDetailsDeployment,
};
pub use install_mode::{InstallMode, InstallModeSet, InstallModeType};
pub use presentation::{AppLink, Icon, Maintainer, RelatedImage};
pub use status::{
    CleanupStatus, ClusterServiceVersionCondition, ClusterServiceVersionStatus, CsvPhase,
    DependentStatus, RequirementStatus, ResourceInstance, ResourceList,
};
pub use webhook::{WebhookDescription, webhook_type};

kind! {
    /// One version of an operator.
    pub struct ClusterServiceVersion: "operators.coreos.com" / "v1alpha1",
        "clusterserviceversions", NamespaceResourceScope {
        spec: ClusterServiceVersionSpec,
        status: ClusterServiceVersionStatus,
    }
}

/// Describes a version of an operator: how to install it, what it provides and requires, and how
/// to present it to people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterServiceVersionSpec {
    /// How the operator is installed.
    #[serde(deserialize_with = "null_is_empty")]
    pub install: NamedInstallStrategy,
    /// Semantic version of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Release of this version: orders several bundles of one version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// How mature the operator is, in words of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maturity: Option<String>,
    /// Custom resources that the operator provides and requires.
    #[serde(rename = "customresourcedefinitions", skip_serializing_if = "Option::is_none")]
    pub customresourcedefinitions: Option<CustomResourceDefinitions>,
    /// Aggregated APIs that the operator provides and requires.
    #[serde(rename = "apiservicedefinitions", skip_serializing_if = "Option::is_none")]
    pub apiservicedefinitions: Option<ApiServiceDefinitions>,
    /// Admission and conversion webhooks that the operator serves.
    #[serde(
        rename = "webhookdefinitions",
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub webhookdefinitions: Vec<WebhookDescription>,
    /// APIs of the cluster itself that the operator requires.
    #[serde(
        rename = "nativeAPIs",
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub native_apis: Vec<NativeApi>,
    /// Lowest version of Kubernetes that the operator runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_kube_version: Option<String>,
    /// Name of the operator for people.
    pub display_name: String,
    /// Long description, often Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to find the operator by.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Who maintains the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub maintainers: Vec<Maintainer>,
    /// Who publishes the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AppLink>,
    /// Further reading.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<AppLink>,
    /// Pictures of the operator; the first one is shown.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub icon: Vec<Icon>,
    /// Which sets of namespaces the operator can watch.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub install_modes: Vec<InstallMode>,
    /// Name of the ClusterServiceVersion that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Labels of the operator, for those who select by them.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the operator, for those who read them.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Selects resources that belong to the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// What to delete together with this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<CleanupSpec>,
    /// Names of ClusterServiceVersions that an upgrade to this one may leave out.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<String>,
    /// Images that the operator may pull.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub related_images: Vec<RelatedImage>,
}

/// Whether custom resources are deleted together with the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CleanupSpec {
    /// Delete the custom resources of owned definitions before the operator goes.
    pub enabled: bool,
}

impl ClusterServiceVersion {
    /// The phase in its status; that of a CSV without a status is [`CsvPhase::None`].
    #[must_use]
    pub fn phase(&self) -> CsvPhase {
        self.status.as_ref().map(|status| status.phase).unwrap_or_default()
    }
}
