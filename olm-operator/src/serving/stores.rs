//! The watches on Services, Secrets and webhook configurations that OLM made.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::{Api, Client, Resource};
use olm_kit::interpreter::Interpreter;
use olm_kit::metrics::WatchMetrics;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Config, Store, Watch, WatchBuilder};
use olm_lifecycle::writes::resource_of;
use olm_types::labels::{MANAGED, MANAGED_VALUE};

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

/// The watches before they start.
pub struct ServingWatches {
    services: WatchBuilder<Service>,
    secrets: WatchBuilder<Secret>,
    validating: WatchBuilder<ValidatingWebhookConfiguration>,
    mutating: WatchBuilder<MutatingWebhookConfiguration>,
}

impl ServingWatches {
    /// Watches on what carries OLM's label, in the whole cluster.
    pub fn new(client: &Client, metrics: &WatchMetrics) -> Self {
        Self {
            services: managed(client, metrics).strip(strip::service),
            secrets: managed(client, metrics).strip(strip::secret),
            validating: managed(client, metrics).strip(strip::validating),
            mutating: managed(client, metrics).strip(strip::mutating),
        }
    }

    /// The stores that these watches will fill.
    pub fn stores(&self) -> ServingStores {
        ServingStores {
            services: self.services.store(),
            secrets: self.secrets.store(),
            validating: self.validating.store(),
            mutating: self.mutating.store(),
        }
    }

    /// Starts all watches.
    pub fn start(self, tasks: &Tasks) {
        self.services.start(tasks);
        self.secrets.start(tasks);
        self.validating.start(tasks);
        self.mutating.start(tasks);
    }
}

impl ServingStores {
    /// Hands what the interpreter writes to these stores.
    pub fn follow(&self, interpreter: Interpreter) -> Interpreter {
        interpreter
            .with_store(resource_of::<Service>(), self.services.clone())
            .with_store(resource_of::<Secret>(), self.secrets.clone())
            .with_store(resource_of::<ValidatingWebhookConfiguration>(), self.validating.clone())
            .with_store(resource_of::<MutatingWebhookConfiguration>(), self.mutating.clone())
    }
}

fn managed<K: Resource<DynamicType = ()>>(
    client: &Client,
    metrics: &WatchMetrics,
) -> WatchBuilder<K> {
    let config = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
    let is_managed = |object: &K| {
        let labels = object.meta().labels.as_ref();
        labels.and_then(|labels| labels.get(MANAGED)).is_some_and(|value| value == MANAGED_VALUE)
    };
    Watch::builder(Api::all(client.clone()), config).metrics(metrics.clone()).admit(is_managed)
}
