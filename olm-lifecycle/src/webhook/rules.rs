//! What a webhook must not ask for, so that it cannot stand in the way of OLM or of its own
//! removal (spec olm-operator 3.8, item 1).

use std::collections::BTreeSet;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use olm_types::api::{ClusterServiceVersion, WebhookDescription, webhook_type};

/// Why a webhook description is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// Two descriptions have one name.
    #[error("CSV contains repeated WebhookDescription name")]
    Repeated,
    /// A rule covers all groups.
    #[error("webhook rules cannot include all groups")]
    AllGroups,
    /// A rule covers OLM's own kinds.
    #[error("webhook rules cannot include the OLM group")]
    OlmGroup,
    /// A rule covers the configurations of webhooks.
    #[error(
        "webhook rules cannot include MutatingWebhookConfiguration or \
         ValidatingWebhookConfiguration resources"
    )]
    Configurations,
    /// Nothing would serve the webhook.
    #[error(
        "spec.webhookdefinitions[{webhook}].deploymentName: the install strategy has no \
         deployment {deployment:?}; name one of spec.install.spec.deployments"
    )]
    NoDeployment {
        /// `generateName` of the description.
        webhook: String,
        /// What it names.
        deployment: String,
    },
    /// It is unknown what the webhook does.
    #[error(
        "spec.webhookdefinitions[{webhook}].type: there is no webhook of type {found:?}; write \
         ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook"
    )]
    UnknownType {
        /// `generateName` of the description.
        webhook: String,
        /// What it says.
        found: String,
    },
}

/// Checks all descriptions of a CSV.
///
/// # Errors
/// The first problem.
pub(crate) fn check_descriptions(csv: &ClusterServiceVersion) -> Result<(), DescriptionError> {
    let webhooks = &csv.spec.webhookdefinitions;
    let names: BTreeSet<&str> = webhooks.iter().map(|webhook| &*webhook.generate_name).collect();
    if names.len() < webhooks.len() {
        return Err(DescriptionError::Repeated);
    }
    let deployments = csv.spec.install.spec.iter().flat_map(|strategy| &strategy.deployments);
    let deployments: BTreeSet<&str> = deployments.map(|entry| entry.name.as_str()).collect();
    for webhook in webhooks {
        webhook.rules.iter().try_for_each(check_rule)?;
        check_type(webhook)?;
        let deployment = super::deployment_of(webhook);
        if !deployments.contains(deployment) {
            let (webhook, deployment) = (webhook.generate_name.clone(), deployment.to_owned());
            return Err(DescriptionError::NoDeployment { webhook, deployment });
        }
    }
    Ok(())
}

fn check_type(webhook: &WebhookDescription) -> Result<(), DescriptionError> {
    match webhook.type_.as_str() {
        webhook_type::VALIDATING | webhook_type::MUTATING | webhook_type::CONVERSION => Ok(()),
        found => Err(DescriptionError::UnknownType {
            webhook: webhook.generate_name.clone(),
            found: found.to_owned(),
        }),
    }
}

fn check_rule(rule: &RuleWithOperations) -> Result<(), DescriptionError> {
    let groups = rule.api_groups.as_deref().unwrap_or_default();
    let resources = rule.resources.as_deref().unwrap_or_default();
    if groups.iter().any(|group| group == "*") {
        return Err(DescriptionError::AllGroups);
    }
    if groups.iter().any(|group| group == "operators.coreos.com") {
        return Err(DescriptionError::OlmGroup);
    }
    let is_admission = groups.iter().any(|group| group == "admissionregistration.k8s.io");
    if is_admission && resources.iter().any(|resource| is_configuration(resource)) {
        return Err(DescriptionError::Configurations);
    }
    Ok(())
}

/// v0 compares with the kinds alone, which no rule names; `*/*` covers subresources, too.
fn is_configuration(resource: &str) -> bool {
    let resource = resource.split('/').next().unwrap_or_default();
    matches!(
        resource,
        "*" | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "mutatingwebhookconfigurations"
            | "validatingwebhookconfigurations"
    )
}
