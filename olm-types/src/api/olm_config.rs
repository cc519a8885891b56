//! OLMConfig: settings of OLM for the whole cluster. The object that counts is named `cluster`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};

kind! {
    /// Settings of OLM for the whole cluster.
    pub struct OLMConfig: "operators.coreos.com" / "v1", "olmconfigs", ClusterResourceScope {
        spec: OLMConfigSpec,
        status: OLMConfigStatus,
    }
}

/// The settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OLMConfigSpec {
    /// Features that can be switched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Features>,
}

/// Features that can be switched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Features {
    /// Do not copy ClusterServiceVersions of operators that watch all namespaces.
    #[serde(rename = "disableCopiedCSVs", skip_serializing_if = "Option::is_none")]
    pub disable_copied_csvs: Option<bool>,
    /// How often the package server asks catalogs, as a Go duration such as `12h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_server_sync_interval: Option<String>,
}

impl OLMConfig {
    /// Whether ClusterServiceVersions are copied to the namespaces that their operators watch.
    #[must_use]
    pub fn copied_csvs_enabled(&self) -> bool {
        let disabled =
            self.spec.features.as_ref().and_then(|features| features.disable_copied_csvs);
        !disabled.unwrap_or(false)
    }
}

/// Which settings took effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OLMConfigStatus {
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
