//! The install strategy of a ClusterServiceVersion: Deployments and the rights they need.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::DeploymentSpec;
use k8s_openapi::api::rbac::v1::PolicyRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::any_json::AnyJson;
use super::super::kind::null_is_empty;

/// Name of the only install strategy.
pub const STRATEGY_DEPLOYMENT: &str = "deployment";

/// An install strategy and its details.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NamedInstallStrategy {
    /// Name of the strategy: `deployment`.
    pub strategy: String,
    /// What to install.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<StrategyDetailsDeployment>,
}

/// Deployments, and the rights of the service accounts that run them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StrategyDetailsDeployment {
    /// Deployments of the operator.
    #[serde(deserialize_with = "null_is_empty")]
    pub deployments: Vec<StrategyDeploymentSpec>,
    /// Rights in the namespaces that the operator watches.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<StrategyDeploymentPermissions>,
    /// Rights in the whole cluster.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub cluster_permissions: Vec<StrategyDeploymentPermissions>,
}

/// One Deployment of the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StrategyDeploymentSpec {
    /// Name of the Deployment.
    pub name: String,
    /// Spec of the Deployment as JSON, so that nothing is lost that this build does not know.
    #[schemars(with = "DeploymentSpec")]
    pub spec: AnyJson,
    /// Labels of the Deployment.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub label: BTreeMap<String, String>,
}

/// Rights of one service account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StrategyDeploymentPermissions {
    /// Name of the service account.
    pub service_account_name: String,
    /// What the service account may do.
    #[serde(deserialize_with = "null_is_empty")]
    pub rules: Vec<PolicyRule>,
}
