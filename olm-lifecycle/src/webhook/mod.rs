//! Webhooks that an operator serves: for admission, validating and mutating, and for the
//! conversion of its custom resources (spec olm-operator 3.8).

mod admission;
mod configuration;
mod conversion;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use admission::description_hash;
use configuration::Configuration;
use olm_types::api::{WebhookDescription, webhook_type};
use olm_types::labels;

use crate::certificates::ServingCsv;

pub use admission::{removed, writes as admission_writes};
pub(crate) use configuration::authority_of;
pub use conversion::{ConversionError, placeholders, released, writes as conversion_writes};
pub use rules::DescriptionError;
pub(crate) use rules::check_descriptions;

/// Which Deployment serves the webhook; empty when the description names none.
pub(crate) fn deployment_of(webhook: &WebhookDescription) -> &str {
    webhook.deployment_name.as_deref().unwrap_or_default()
}

/// The state of all webhooks of a CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Each is set up as described.
    Available,
    /// A configuration is missing or outdated.
    Missing,
    /// Something is wrong; the text is v0's.
    Failed(String),
}

/// Looks at all descriptions.
pub fn availability(observed: &ServingCsv<'_>) -> Availability {
    for webhook in &observed.csv.spec.webhookdefinitions {
        match state(observed, webhook) {
            Availability::Available => {}
            other => return other,
        }
    }
    Availability::Available
}

fn state(observed: &ServingCsv<'_>, webhook: &WebhookDescription) -> Availability {
    let found = match webhook.type_.as_str() {
        webhook_type::VALIDATING => is_current(&observed.serving.validating, webhook),
        webhook_type::MUTATING => is_current(&observed.serving.mutating, webhook),
        _ => {
            let mut crds = webhook.conversion_crds.iter();
            return match crds.all(|crd| conversion::is_ready(observed, crd)) {
                true => Availability::Available,
                false => Availability::Failed("conversionWebhook not ready".to_owned()),
            };
        }
    };
    if found { Availability::Available } else { Availability::Missing }
}

fn is_current<K: Configuration>(all: &[Arc<K>], webhook: &WebhookDescription) -> bool {
    let hash = description_hash(webhook);
    all.iter().any(|found| {
        found.label(labels::WEBHOOK_GENERATE_NAME) == Some(webhook.generate_name.as_str())
            && found.label(labels::WEBHOOK_HASH) == Some(hash.as_str())
    })
}
