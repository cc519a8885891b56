//! OperatorGroup: the namespaces that the operators of a namespace watch.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};
use super::text_enum::text_enum;

kind! {
    /// The namespaces that the operators of a namespace watch.
    pub struct OperatorGroup: "operators.coreos.com" / "v1", "operatorgroups", NamespaceResourceScope {
        spec: OperatorGroupSpec,
        status: OperatorGroupStatus,
    }
}

/// Which namespaces are targets, and how operators are installed for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OperatorGroupSpec {
    /// Selects target namespaces by label; ignored when names are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Names of target namespaces; all namespaces when neither names nor a selector are given.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub target_namespaces: Vec<String>,
    /// Service account that installs operators; its rights are the limit of theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// The provided APIs in the annotation are maintained by a person.
    #[serde(rename = "staticProvidedAPIs", skip_serializing_if = "Option::is_none")]
    pub static_provided_apis: Option<bool>,
    /// How upgrades proceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_strategy: Option<UpgradeStrategy>,
}

text_enum! {
    /// How upgrades proceed in a namespace. Unknown texts mean the default.
    pub enum UpgradeStrategy else Default {
        /// A version is replaced only after it was installed.
        #[default]
        Default = "Default",
        /// A failed version may be replaced by a newer one.
        TechPreviewUnsafeFailForward = "TechPreviewUnsafeFailForward",
    }
}

/// What was observed of an OperatorGroup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OperatorGroupStatus {
    /// Target namespaces, sorted; one empty name means all namespaces.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Service account that installs operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_ref: Option<ObjectReference>,
    /// When the status was last written. Must be set in every status that is written.
    pub last_updated: Option<Time>,
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
