//! Validating and mutating configurations, which differ in little but their kind.

use std::sync::Arc;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube_core::Resource;
use olm_types::api::{WebhookDescription, webhook_type};
use olm_types::labels;

use super::conversion;
use crate::certificates::ServingCsv;

/// A kind of webhook configuration.
pub(super) trait Configuration:
    Resource<DynamicType = ()> + serde::Serialize + Sized
{
    /// What a description of this kind says.
    const TYPE: &'static str;

    /// How the first webhook is reached.
    fn client(&self) -> Option<&WebhookClientConfig>;

    /// Whom the API server trusts when it calls the first webhook.
    fn authority(&self) -> Option<&[u8]> {
        self.client()?.ca_bundle.as_ref().map(|ByteString(bytes)| bytes.as_slice())
    }

    /// A label.
    fn label(&self, key: &str) -> Option<&str> {
        self.meta().labels.as_ref()?.get(key).map(String::as_str)
    }
}

impl Configuration for ValidatingWebhookConfiguration {
    const TYPE: &'static str = webhook_type::VALIDATING;

    fn client(&self) -> Option<&WebhookClientConfig> {
        self.webhooks.as_ref()?.first().map(|webhook| &webhook.client_config)
    }
}

impl Configuration for MutatingWebhookConfiguration {
    const TYPE: &'static str = webhook_type::MUTATING;

    fn client(&self) -> Option<&WebhookClientConfig> {
        self.webhooks.as_ref()?.first().map(|webhook| &webhook.client_config)
    }
}

/// The certificates in the first configuration, or the first definition, of a description.
pub(crate) fn authority_of<'a>(
    observed: &ServingCsv<'a>,
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
