//! Validating and mutating configurations, which differ in little but their kind.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube_core::Resource;
use olm_types::api::webhook_type;

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
