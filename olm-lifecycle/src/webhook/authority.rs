//! Whom the API server trusts when it calls a webhook (spec olm-operator 3.8, item 6).

use std::sync::Arc;

use olm_types::api::{WebhookDescription, webhook_type};
use olm_types::labels;

use super::configuration::Configuration;
use super::conversion;
use crate::csv::Observed;

/// The certificates in the first configuration, or the first definition, of a description.
pub(crate) fn authority_of<'a>(
    observed: &'a Observed,
    webhook: &WebhookDescription,
) -> Option<&'a [u8]> {
    let name = webhook.generate_name.as_str();
    match webhook.type_.as_str() {
        webhook_type::VALIDATING => first(&observed.serving.validating, name),
        webhook_type::MUTATING => first(&observed.serving.mutating, name),
        webhook_type::CONVERSION => {
            let mut crds = webhook.conversion_crds.iter();
            crds.find_map(|crd| conversion::authority(observed, crd))
        }
        _ => None,
    }
}

fn first<'a, K: Configuration>(all: &'a [Arc<K>], name: &str) -> Option<&'a [u8]> {
    let mut all = all.iter();
    all.find(|found| found.label(labels::WEBHOOK_GENERATE_NAME) == Some(name))?.authority()
}
