//! OperatorCondition: what an operator reports to OLM about itself.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};

kind! {
    /// What an operator reports to OLM about itself, for example that it must not be upgraded now.
    pub struct OperatorCondition: "operators.coreos.com" / "v2", "operatorconditions", NamespaceResourceScope {
        spec: OperatorConditionSpec,
        status: OperatorConditionStatus,
    }
}

/// Who may report conditions, the conditions they report, and what overrides these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OperatorConditionSpec {
    /// Service accounts of the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub service_accounts: Vec<String>,
    /// Deployments of the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub deployments: Vec<String>,
    /// Conditions set by a person; they win over those of the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<ConditionOverride>,
    /// Conditions reported by the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A condition set by a person: like any other, but its time may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ConditionOverride {
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, for people.
    pub message: String,
    /// Generation of the object that the condition was set for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Why, in one word.
    pub reason: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Type, unique within the list.
    #[serde(rename = "type")]
    pub type_: String,
}

/// The conditions that OLM has taken notice of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OperatorConditionStatus {
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
