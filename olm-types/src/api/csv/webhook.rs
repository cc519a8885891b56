//! Webhooks that an operator serves.

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::kind::null_is_empty;

/// The values of [`WebhookDescription::type_`].
pub mod webhook_type {
    /// Validates objects on admission.
    pub const VALIDATING: &str = "ValidatingAdmissionWebhook";
    /// Changes objects on admission.
    pub const MUTATING: &str = "MutatingAdmissionWebhook";
    /// Converts custom resources between versions.
    pub const CONVERSION: &str = "ConversionWebhook";
}

/// A webhook of an operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WebhookDescription {
    /// Name of the webhook, and start of the name of its configuration.
    pub generate_name: String,
    /// What the webhook does.
    #[serde(rename = "type")]
    pub type_: String,
    /// Deployment of the install strategy that serves the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_name: Option<String>,
    /// Port of the Service in front of the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_port: Option<i32>,
    /// Port of the container; the port of the Service when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<IntOrString>,
    /// Requests that the webhook is called for.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleWithOperations>,
    /// What happens when the webhook fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<String>,
    /// How rules match requests to equivalent APIs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_policy: Option<String>,
    /// Objects that the webhook is called for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<LabelSelector>,
    /// Whether calls have side effects.
    pub side_effects: Option<String>,
    /// How long a call may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
    /// Versions of AdmissionReview that the webhook understands, preferred first.
    #[serde(deserialize_with = "null_is_empty")]
    pub admission_review_versions: Vec<String>,
    /// Whether the webhook is called again after others changed the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinvocation_policy: Option<String>,
    /// Path of the webhook's URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_path: Option<String>,
    /// Definitions whose custom resources a conversion webhook converts.
    #[serde(
        rename = "conversionCRDs",
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conversion_crds: Vec<String>,
}
