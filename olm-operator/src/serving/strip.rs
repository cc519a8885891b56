//! What is kept of each object.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Secret, Service};
use olm_lifecycle::certificates::is_serving;
use olm_types::annotations::CA_HASH;

/// Whether it exists, and whose it is.
pub fn service(service: &mut Service) {
    service.metadata.annotations = None;
    service.spec = None;
    service.status = None;
}

/// Certificates; tokens and passwords of others are not kept in memory.
pub fn secret(secret: &mut Secret) {
    if let Some(annotations) = &mut secret.metadata.annotations {
        annotations.retain(|key, _| key == CA_HASH);
    }
    if !is_serving(secret) {
        secret.data = None;
    }
}

/// The webhooks.
pub fn validating(configuration: &mut ValidatingWebhookConfiguration) {
    configuration.metadata.annotations = None;
}

/// The webhooks.
pub fn mutating(configuration: &mut MutatingWebhookConfiguration) {
    configuration.metadata.annotations = None;
}
