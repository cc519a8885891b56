//! Webhooks that an operator serves: for admission, validating and mutating, and for the
//! conversion of its custom resources (spec olm-operator 3.8).

mod admission;
mod authority;
mod availability;
mod configuration;
mod conversion;
mod rules;

pub use admission::{removed, writes as admission_writes};
pub(crate) use authority::authority_of;
pub use availability::{Availability, availability};
pub use conversion::{ConversionError, placeholders, released, writes as conversion_writes};
pub use rules::DescriptionError;
pub(crate) use rules::check_descriptions;

use olm_types::api::WebhookDescription;

/// Which Deployment serves the webhook; empty when the description names none.
pub(crate) fn deployment_of(webhook: &WebhookDescription) -> &str {
    webhook.deployment_name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
