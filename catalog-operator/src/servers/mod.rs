//! The objects that serve catalogs, as they are in the cluster.
//!
//! Everything that OLM makes has the label `olm.managed`, by which it is watched; of what does not
//! belong to a CatalogSource, and of what is not compared, as little as possible is kept.

mod listen;
mod resolver;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{
    ConfigMap, Container, Namespace, Pod, PodSpec, Service, ServiceAccount,
};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::core::PartialObjectMeta;
use kube::{Resource, ResourceExt};
use olm_kit::watch::{Config, Store, WatchSet};
use olm_lifecycle::catalog_source::Present;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, MANAGED, MANAGED_VALUE, POD_SECURITY_ENFORCE};
use olm_types::owner::is_owned_by_kind;
use serde::de::DeserializeOwned;

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

impl ServerStores {
    /// The stores that these watches will fill.
    pub fn watched(watches: &mut WatchSet) -> Self {
        let pods = Config::default().labels(CATALOG_SOURCE);
        let config_maps = Config::default().labels(MANAGED);
        Self {
            accounts: ours(watches, |_| {}),
            services: ours(watches, |_| {}),
            policies: ours(watches, |_| {}),
            roles: ours(watches, strip_role),
            bindings: ours(watches, strip_binding),
            pods: watches.add(pods, |pods| {
                pods.strip(strip_pod).admit(|pod: &Pod| pod.labels().contains_key(CATALOG_SOURCE))
            }),
            config_maps: watches.add(config_maps, |maps| {
                maps.admit(|found: &PartialObjectMeta<ConfigMap>| {
                    found.labels().contains_key(MANAGED)
                })
            }),
            namespaces: watches.all(),
        }
    }

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

    fn is_restricted(&self, namespace: &str) -> bool {
        let found: Option<Arc<_>> = self.namespaces.get(None, namespace);
        found.is_some_and(|found| {
            found.labels().get(POD_SECURITY_ENFORCE).is_some_and(|level| level == RESTRICTED)
        })
    }
}

/// A watch on the objects of a kind that OLM made.
fn ours<K>(watches: &mut WatchSet, strip: fn(&mut K)) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let config = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
    let is_ours = |object: &K| {
        let labels = object.meta().labels.as_ref();
        labels.and_then(|labels| labels.get(MANAGED)).is_some_and(|value| value == MANAGED_VALUE)
    };
    watches.add(config, |watch| watch.strip(strip).admit(is_ours))
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
