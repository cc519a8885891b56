//! The objects that serve catalogs, as they are in the cluster.
//!
//! Everything that OLM makes has the label `olm.managed`, by which it is watched; of what does not
//! belong to a CatalogSource, and of what is not compared, as little as possible is kept.

mod listen;
mod resolver;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use k8s_openapi::api::core::v1::{
    ConfigMap, Container, Namespace, Pod, PodSpec, Service, ServiceAccount,
};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::core::PartialObjectMeta;
use kube::{Api, Client, ResourceExt};
use olm_kit::interpreter::Interpreter;
use olm_kit::metrics::WatchMetrics;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Config, Store, Watch, WatchBuilder};
use olm_lifecycle::catalog_source::Present;
use olm_lifecycle::writes::resource_of;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, MANAGED, MANAGED_VALUE, POD_SECURITY_ENFORCE};
use olm_types::owner::is_owned_by_kind;

pub use listen::listen;
pub use resolver::ServiceResolver;

/// The value of a namespace's label that asks for restricted Pods.
const RESTRICTED: &str = "restricted";

/// One store per kind. Clones share them.
#[derive(Clone, Default)]
pub struct ServerStores {
    /// ServiceAccounts of ours.
    pub accounts: Store<ServiceAccount>,
    /// Services of ours.
    pub services: Store<Service>,
    /// NetworkPolicies of ours.
    pub policies: Store<NetworkPolicy>,
    /// Roles of ours; rules only of those that belong to a CatalogSource.
    pub roles: Store<Role>,
    /// RoleBindings of ours; subjects only of those that belong to a CatalogSource.
    pub bindings: Store<RoleBinding>,
    /// Pods of catalogs, reduced to images and status.
    pub pods: Store<Pod>,
    /// ConfigMaps with the label `olm.managed`, whatever its value, without content.
    pub config_maps: Store<PartialObjectMeta<ConfigMap>>,
    /// Namespaces, without content.
    pub namespaces: Store<PartialObjectMeta<Namespace>>,
}

/// The watches that fill them.
pub struct ServerWatches {
    accounts: WatchBuilder<ServiceAccount>,
    services: WatchBuilder<Service>,
    policies: WatchBuilder<NetworkPolicy>,
    roles: WatchBuilder<Role>,
    bindings: WatchBuilder<RoleBinding>,
    pods: WatchBuilder<Pod>,
    config_maps: WatchBuilder<PartialObjectMeta<ConfigMap>>,
    namespaces: WatchBuilder<PartialObjectMeta<Namespace>>,
}

/// Names of the objects that serve one catalog.
pub struct Names<'a> {
    /// Namespace of all of them.
    pub namespace: &'a str,
    /// Name of the CatalogSource.
    pub catalog: &'a str,
    /// Name of the Service.
    pub service: &'a str,
    /// Name of the ServiceAccount.
    pub account: &'a str,
}

impl ServerWatches {
    /// Watches on the whole cluster.
    pub fn new(client: &Client, metrics: &WatchMetrics) -> Self {
        Self {
            accounts: ours(client, metrics),
            services: ours(client, metrics),
            policies: ours(client, metrics),
            roles: ours(client, metrics).strip(strip_role),
            bindings: ours(client, metrics).strip(strip_binding),
            pods: watch(client, Config::default().labels(CATALOG_SOURCE), metrics)
                .strip(strip_pod)
                .admit(|pod: &Pod| pod.labels().contains_key(CATALOG_SOURCE)),
            config_maps: watch(client, Config::default().labels(MANAGED), metrics)
                .admit(|found: &PartialObjectMeta<ConfigMap>| found.labels().contains_key(MANAGED)),
            namespaces: watch(client, Config::default(), metrics),
        }
    }

    /// The stores that these watches will fill.
    pub fn stores(&self) -> ServerStores {
        ServerStores {
            accounts: self.accounts.store(),
            services: self.services.store(),
            policies: self.policies.store(),
            roles: self.roles.store(),
            bindings: self.bindings.store(),
            pods: self.pods.store(),
            config_maps: self.config_maps.store(),
            namespaces: self.namespaces.store(),
        }
    }

    /// Starts all watches.
    pub fn start(self, tasks: &Tasks) {
        self.accounts.start(tasks);
        self.services.start(tasks);
        self.policies.start(tasks);
        self.roles.start(tasks);
        self.bindings.start(tasks);
        self.pods.start(tasks);
        self.config_maps.start(tasks);
        self.namespaces.start(tasks);
    }
}

impl ServerStores {
    /// What serves a catalog.
    pub fn present(&self, names: &Names<'_>) -> Present {
        let Names { namespace, catalog, service, account } = names;
        let here = Some(*namespace);
        let policies = ["grpc-server", "unpack-bundles"];
        Present {
            account: self.accounts.get(here, account),
            service: self.services.get(here, service),
            policies: policies
                .iter()
                .filter_map(|end| self.policies.get(here, &format!("{catalog}-{end}")))
                .collect(),
            role: self.roles.get(here, &format!("{catalog}-configmap-reader")),
            binding: self.bindings.get(here, &format!("{catalog}-server-configmap-reader")),
            pods: self.pods.list_in(namespace),
            restricted: self.is_restricted(namespace),
        }
    }

    /// Has an interpreter show what it writes.
    #[must_use]
    pub fn absorbing(&self, interpreter: Interpreter) -> Interpreter {
        interpreter
            .with_store(resource_of::<ServiceAccount>(), self.accounts.clone())
            .with_store(resource_of::<Service>(), self.services.clone())
            .with_store(resource_of::<NetworkPolicy>(), self.policies.clone())
            .with_store(resource_of::<Role>(), self.roles.clone())
            .with_store(resource_of::<RoleBinding>(), self.bindings.clone())
            .with_store(resource_of::<Pod>(), self.pods.clone())
            .with_store(resource_of::<ConfigMap>(), self.config_maps.clone())
    }

    fn is_restricted(&self, namespace: &str) -> bool {
        let found: Option<Arc<_>> = self.namespaces.get(None, namespace);
        found.is_some_and(|found| {
            found.labels().get(POD_SECURITY_ENFORCE).is_some_and(|level| level == RESTRICTED)
        })
    }
}

/// A watch on the objects of a kind that OLM made.
fn ours<K>(client: &Client, metrics: &WatchMetrics) -> WatchBuilder<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    let selector = format!("{MANAGED}={MANAGED_VALUE}");
    watch(client, Config::default().labels(&selector), metrics).admit(|object: &K| {
        object
            .meta()
            .labels
            .as_ref()
            .and_then(|labels| labels.get(MANAGED))
            .is_some_and(|value| value == MANAGED_VALUE)
    })
}

fn watch<K>(client: &Client, config: Config, metrics: &WatchMetrics) -> WatchBuilder<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    Watch::builder(Api::all(client.clone()), config).metrics(metrics.clone())
}

fn strip_role(role: &mut Role) {
    if !is_owned_by_kind(&role.metadata, CatalogSource::KIND) {
        role.rules = None;
    }
}

fn strip_binding(binding: &mut RoleBinding) {
    if !is_owned_by_kind(&binding.metadata, CatalogSource::KIND) {
        binding.subjects = None;
    }
}

/// The hash of the spec is in a label; of the spec itself only the images are looked at.
fn strip_pod(pod: &mut Pod) {
    let image = |container: Container| Container {
        name: container.name,
        image: container.image,
        ..Container::default()
    };
    pod.metadata.annotations = None;
    pod.spec = pod.spec.take().map(|spec| PodSpec {
        containers: spec.containers.into_iter().map(image).collect(),
        init_containers: spec
            .init_containers
            .map(|containers| containers.into_iter().map(image).collect()),
        ..PodSpec::default()
    });
}
