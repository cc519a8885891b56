//! InstallPlan: the steps that install or upgrade a set of operators.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};
use super::text_enum::text_enum;

kind! {
    /// The steps that install or upgrade a set of operators.
    pub struct InstallPlan: "operators.coreos.com" / "v1alpha1", "installplans", NamespaceResourceScope {
        spec: InstallPlanSpec,
        status: InstallPlanStatus,
    }
}

impl InstallPlan {
    /// The phase in its status; that of a plan without a status is [`InstallPlanPhase::None`].
    #[must_use]
    pub fn phase(&self) -> InstallPlanPhase {
        self.status.as_ref().map(|status| status.phase).unwrap_or_default()
    }

    /// Whether nothing of it is installed until it is approved.
    #[must_use]
    pub fn waits_for_approval(&self) -> bool {
        self.phase() == InstallPlanPhase::RequiresApproval && !self.spec.approved
    }

    /// Whether its steps are known and are still to be executed, once it is approved.
    #[must_use]
    pub fn has_open_steps(&self) -> bool {
        match self.phase() {
            InstallPlanPhase::RequiresApproval | InstallPlanPhase::Installing => true,
            InstallPlanPhase::None
            | InstallPlanPhase::Planning
            | InstallPlanPhase::Complete
            | InstallPlanPhase::Failed => false,
        }
    }

    /// Whether nothing of it is executed any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.phase() {
            InstallPlanPhase::Complete | InstallPlanPhase::Failed => true,
            InstallPlanPhase::None
            | InstallPlanPhase::Planning
            | InstallPlanPhase::RequiresApproval
            | InstallPlanPhase::Installing => false,
        }
    }
}

text_enum! {
    /// Whether an InstallPlan runs by itself. As in v0, every text but `Manual` is automatic.
    pub enum Approval else Automatic {
        /// The plan is approved when it is created.
        #[default]
        Automatic = "Automatic",
        /// A person has to set `spec.approved`.
        Manual = "Manual",
    }
}

/// What is to be installed, and whether it may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct InstallPlanSpec {
    /// Name of a CatalogSource. Kept, not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Namespace of a CatalogSource. Kept, not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_namespace: Option<String>,
    /// Names of the ClusterServiceVersions that the plan installs.
    #[serde(deserialize_with = "null_is_empty")]
    pub cluster_service_version_names: Vec<String>,
    /// Whether the plan needs approval by a person.
    pub approval: Approval,
    /// Whether the plan may run.
    pub approved: bool,
    /// Counts the plans of a namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
}

text_enum! {
    /// How far an InstallPlan got.
    pub enum InstallPlanPhase else None {
        /// Not looked at yet, or the text is none of the below.
        #[default]
        None = "",
        /// Steps are being determined.
        Planning = "Planning",
        /// The plan waits for approval.
        RequiresApproval = "RequiresApproval",
        /// Steps are being executed.
        Installing = "Installing",
        /// Every step was executed.
        Complete = "Complete",
        /// A step failed for good.
        Failed = "Failed",
    }
}

/// The steps and how far they got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct InstallPlanStatus {
    /// How far the plan got.
    pub phase: InstallPlanPhase,
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<InstallPlanCondition>,
    /// Names of the CatalogSources that the steps come from.
    #[serde(deserialize_with = "null_is_empty")]
    pub catalog_sources: Vec<String>,
    /// The steps, in order of execution.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Step>,
    /// Bundles whose content is not known yet.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub bundle_lookups: Vec<BundleLookup>,
    /// Service account that executes the steps, when the OperatorGroup names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attenuated_service_account_ref: Option<ObjectReference>,
    /// When the first step was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// What went wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A condition of an InstallPlan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct InstallPlanCondition {
    /// Type, unique within the list.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// `True`, `False` or `Unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When the condition was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

text_enum! {
    /// How far a step got.
    pub enum StepStatus else Unknown {
        /// Not executed yet, or the text is none of the below.
        #[default]
        Unknown = "Unknown",
        /// The object is not there.
        NotPresent = "NotPresent",
        /// The object was there already.
        Present = "Present",
        /// The object was created.
        Created = "Created",
        /// The object could not be created.
        NotCreated = "NotCreated",
        /// The API of the object is awaited.
        WaitingForApi = "WaitingForApi",
        /// No rule exists for objects of this kind.
        UnsupportedResource = "UnsupportedResource",
    }
}

/// One object to be created or updated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Step {
    /// ClusterServiceVersion that the step belongs to.
    pub resolving: String,
    /// The object.
    #[serde(deserialize_with = "null_is_empty")]
    pub resource: StepResource,
    /// Whether the plan goes on when the API of the object does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
    /// How far the step got.
    pub status: StepStatus,
}

/// The object of a step, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StepResource {
    /// Name of the CatalogSource.
    pub source_name: String,
    /// Namespace of the CatalogSource.
    pub source_namespace: String,
    /// Group of the object; empty for the core group.
    pub group: String,
    /// Version of the object.
    pub version: String,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// The object as JSON text, or a reference to the ConfigMap that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
}

/// A bundle that has to be unpacked before its steps are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct BundleLookup {
    /// Pull reference of the bundle image.
    pub path: String,
    /// Name of the ClusterServiceVersion in the bundle.
    pub identifier: String,
    /// Name of the ClusterServiceVersion that it replaces.
    pub replaces: String,
    /// CatalogSource that names the bundle.
    #[serde(deserialize_with = "null_is_empty")]
    pub catalog_source_ref: ObjectReference,
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<BundleLookupCondition>,
    /// Properties of the bundle as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<String>,
}

/// A condition of a bundle lookup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct BundleLookupCondition {
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
    /// When the condition was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}
