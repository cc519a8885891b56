//! Webhooks that an operator serves: for admission, validating and mutating, and for the
//! conversion of its custom resources (spec olm-operator 3.8).

mod admission;
mod authority;
mod availability;
mod configuration;
mod conversion;
mod rules;

pub use admission::{removed, writes as admission_writes};
pub use authority::authority_of;
pub use availability::{Availability, availability};
pub use conversion::{
    ConversionError, is_conversion, placeholders, released, writes as conversion_writes,
};
pub use rules::{DescriptionError, check_descriptions};

use olm_types::api::WebhookDescription;

/// Which Deployment serves the webhook; empty when the description names none.
pub fn deployment_of(webhook: &WebhookDescription) -> &str {
    webhook.deployment_name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
