//! The status of a ClusterServiceVersion.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::kind::null_is_empty;
use super::super::text_enum::text_enum;

text_enum! {
    /// Where a ClusterServiceVersion is on its way to a running operator.
    pub enum CsvPhase else Unknown {
        /// Not looked at yet.
        #[default]
        None = "",
        /// Requirements are being checked.
        Pending = "Pending",
        /// Requirements are met; nothing is installed yet.
        InstallReady = "InstallReady",
        /// Deployments were created and are awaited.
        Installing = "Installing",
        /// The operator runs.
        Succeeded = "Succeeded",
        /// Something went wrong; the reason says what and whether it will be tried again.
        Failed = "Failed",
        /// A newer version takes over.
        Replacing = "Replacing",
        /// The newer version runs; this one is being deleted.
        Deleting = "Deleting",
        /// The state could not be determined, or the text is none of the above.
        Unknown = "Unknown",
    }
}

/// What was observed of the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterServiceVersionStatus {
    /// Current phase.
    #[serde(skip_serializing_if = "CsvPhase::is_default")]
    pub phase: CsvPhase,
    /// Why the phase is what it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why the phase is what it is, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When phase, reason or message were last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the phase last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Former phases, oldest first.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ClusterServiceVersionCondition>,
    /// Each requirement and whether it is met.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub requirement_status: Vec<RequirementStatus>,
    /// When the certificates of owned APIs and webhooks were last issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certs_last_updated: Option<Time>,
    /// When these certificates are to be issued again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certs_rotate_at: Option<Time>,
    /// What is still to be deleted before this object goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<CleanupStatus>,
}

/// A phase that the object was in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterServiceVersionCondition {
    /// The phase.
    #[serde(skip_serializing_if = "CsvPhase::is_default")]
    pub phase: CsvPhase,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the condition was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the phase was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}

/// One requirement of the operator and whether it is met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RequirementStatus {
    /// Group of what is required.
    pub group: String,
    /// Version of what is required.
    pub version: String,
    /// Kind of what is required.
    pub kind: String,
    /// Name of what is required.
    pub name: String,
    /// Whether it is there, in one word.
    pub status: String,
    /// Whether it is there, for people.
    pub message: String,
    /// Uid of the object that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// What has to hold for the object that was found.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<DependentStatus>,
}

/// A condition on something required, for example a rule that a service account must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct DependentStatus {
    /// Group of the dependent.
    pub group: String,
    /// Version of the dependent.
    pub version: String,
    /// Kind of the dependent.
    pub kind: String,
    /// Whether it holds, in one word.
    pub status: String,
    /// Uid of the object that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// What was looked for, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What is still to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CleanupStatus {
    /// Custom resources that are waited for, by kind.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub pending_deletion: Vec<ResourceList>,
}

/// Objects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceList {
    /// Group of the kind.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The objects.
    #[serde(deserialize_with = "null_is_empty")]
    pub instances: Vec<ResourceInstance>,
}

/// One object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceInstance {
    /// Name of the object.
    pub name: String,
    /// Namespace of the object; absent when the kind has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}
