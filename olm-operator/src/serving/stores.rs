//! The stores of Services, Secrets and webhook configurations that OLM made.

use std::fmt::Debug;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::Resource;
use olm_kit::watch::{Config, Store, WatchSet};
use olm_types::labels::{MANAGED, MANAGED_VALUE};
use serde::de::DeserializeOwned;

use super::strip;

/// One shared store per kind. Clones share the content.
#[derive(Clone, Default)]
pub struct ServingStores {
    /// Services.
    pub services: Store<Service>,
    /// Secrets; only those with certificates have content.
    pub secrets: Store<Secret>,
    /// Validating webhook configurations.
    pub validating: Store<ValidatingWebhookConfiguration>,
    /// Mutating webhook configurations.
    pub mutating: Store<MutatingWebhookConfiguration>,
}

impl ServingStores {
    /// The stores that watches on what carries OLM's label will fill.
    pub fn watched(watches: &mut WatchSet) -> Self {
        Self {
            services: managed(watches, strip::service),
            secrets: managed(watches, strip::secret),
            validating: managed(watches, strip::validating),
            mutating: managed(watches, strip::mutating),
        }
    }
}

fn managed<K>(watches: &mut WatchSet, strip: fn(&mut K)) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let config = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
    let is_managed = |object: &K| {
        let labels = object.meta().labels.as_ref();
        labels.and_then(|labels| labels.get(MANAGED)).is_some_and(|value| value == MANAGED_VALUE)
    };
    watches.add(config, |watch| watch.strip(strip).admit(is_managed))
}
