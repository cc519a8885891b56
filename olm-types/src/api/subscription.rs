//! Subscription: which package is installed and kept up to date.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, EnvFromSource, EnvVar, ObjectReference, ResourceRequirements, Toleration, Volume,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};
use super::text_enum::text_enum;
use super::{AnyJson, Approval};

kind! {
    /// The wish to have a package installed and kept up to date.
    pub struct Subscription: "operators.coreos.com" / "v1alpha1", "subscriptions", NamespaceResourceScope {
        spec: SubscriptionSpec,
        status: SubscriptionStatus,
    }
}

/// Which package, from which catalog, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionSpec {
    /// Name of the CatalogSource.
    pub source: String,
    /// Namespace of the CatalogSource.
    pub source_namespace: String,
    /// Name of the package.
    pub name: String,
    /// Channel to follow; the default channel of the package when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// ClusterServiceVersion to install first; the head of the channel when absent.
    #[serde(rename = "startingCSV", skip_serializing_if = "Option::is_none")]
    pub starting_csv: Option<String>,
    /// Whether InstallPlans need approval by a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_plan_approval: Option<Approval>,
    /// Changes to the pods of the operator.
    // A `SubscriptionConfig` as it was written: an empty map there means something else than none,
    // quantities may be numbers, and what this build does not know still reaches the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<SubscriptionConfig>")]
    pub config: Option<AnyJson>,
}

/// Changes to the pods of an operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionConfig {
    /// Pods that the changes are meant for. Kept, not acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Labels that a node must have.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the pods tolerate.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Requests and limits of each container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Sources of environment variables of each container.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Environment variables of each container.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Volumes of the pods.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
    /// Where each container mounts volumes.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Where the pods may run; parts that are set replace those of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// Annotations of Deployments and pods.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

text_enum! {
    /// How the installed version relates to the catalog.
    pub enum SubscriptionState else None {
        /// Nothing is known yet, or the text is none of the below.
        #[default]
        None = "",
        /// The upgrade failed.
        UpgradeFailed = "UpgradeFailed",
        /// The catalog has a newer version.
        UpgradeAvailable = "UpgradeAvailable",
        /// An InstallPlan for the newer version exists.
        UpgradePending = "UpgradePending",
        /// The newest version is installed.
        AtLatestKnown = "AtLatestKnown",
    }
}

/// What was observed of a Subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionStatus {
    /// ClusterServiceVersion that the Subscription is moving to.
    #[serde(rename = "currentCSV", skip_serializing_if = "Option::is_none")]
    pub current_csv: Option<String>,
    /// ClusterServiceVersion that is installed.
    #[serde(rename = "installedCSV", skip_serializing_if = "Option::is_none")]
    pub installed_csv: Option<String>,
    /// Latest InstallPlan; the older form of `installPlanRef`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "installplan")]
    pub installplan: Option<InstallPlanReference>,
    /// How the installed version relates to the catalog.
    #[serde(skip_serializing_if = "SubscriptionState::is_default")]
    pub state: SubscriptionState,
    /// Why the state is what it is, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Generation of the latest InstallPlan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_plan_generation: Option<i64>,
    /// Latest InstallPlan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_plan_ref: Option<ObjectReference>,
    /// Health of each catalog that the Subscription can be resolved from.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub catalog_health: Vec<SubscriptionCatalogHealth>,
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<SubscriptionCondition>,
    /// Generation of the spec that was taken into account last. v0's definition does not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the status was last written. Must be set in every status that is written.
    pub last_updated: Option<Time>,
}

/// Names an InstallPlan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct InstallPlanReference {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Uid.
    pub uuid: String,
}

/// Health of one catalog, as a Subscription sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionCatalogHealth {
    /// The CatalogSource.
    #[serde(deserialize_with = "null_is_empty")]
    pub catalog_source_ref: ObjectReference,
    /// When the health was last determined. Must be set.
    pub last_updated: Option<Time>,
    /// Whether the catalog can be asked.
    pub healthy: bool,
}

/// A condition of a Subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionCondition {
    /// Type, unique within the list.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the condition was last confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heartbeat_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}
