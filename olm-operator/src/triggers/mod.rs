//! Which change asks for which work (spec olm-operator 1.10, 4.4).
//!
//! Every listener maps the old and the new version of an object to keys. Nothing is polled: a CSV
//! that waits for something is woken by the change of exactly that.

mod components;
mod copies;
mod csv;
mod dependencies;
mod group;
mod overrides;
mod plan;
mod rbac;
mod serving;

use olm_kit::ObjectKey;
use olm_kit::watch::{Cached, Change, Store};
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::owner_by_label;

use crate::changes::Changes;
use crate::components::ComponentIndex;
use crate::dependents::{Dependency, Dependents};
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::queues::Queues;
use crate::stores::Stores;

/// Turns changes into keys.
#[derive(Clone)]
pub struct Triggers {
    pub(crate) stores: Stores,
    pub(crate) queues: Queues,
    pub(crate) dependents: Dependents,
    pub(crate) changes: Changes,
    pub(crate) metrics: CsvMetrics,
    pub(crate) originals: Originals,
    pub(crate) components: ComponentIndex,
}

impl Triggers {
    /// Listens to all stores from now on.
    pub fn listen(&self) {
        let stores = &self.stores;
        self.on(&stores.csvs, Self::csv);
        self.on(&stores.copies, Self::copy);
        self.on(&stores.configs, Self::config);
        self.on(&stores.groups, Self::group);
        self.on(&stores.namespaces, Self::namespace);
        self.on(&stores.deployments, Self::deployment);
        self.on(&stores.accounts, Self::account);
        self.on(&stores.roles, Self::role);
        self.on(&stores.role_bindings, Self::role_binding);
        self.on(&stores.cluster_roles, Self::cluster_role);
        self.on(&stores.cluster_role_bindings, Self::cluster_role_binding);
        self.on(&stores.crds, Self::crd);
        self.on(&stores.api_services, Self::api_service);
        self.on(&stores.serving.services, Self::service);
        self.on(&stores.serving.secrets, Self::secret);
        self.on(&stores.serving.validating, Self::webhook);
        self.on(&stores.serving.mutating, Self::webhook);
        self.on(&stores.conditions, Self::condition);
        self.listen_to_components();
        self.on(&stores.plans, Self::plan);
        self.on(&stores.subscriptions, Self::subscription);
        self.on(&stores.proxies, Self::proxy);
    }

    /// Calls `listener` for every change of a store from now on.
    fn on<K: Cached + 'static>(&self, store: &Store<K>, listener: fn(&Self, &Change<K>)) {
        let me = self.clone();
        store.on_change(move |change| listener(&me, change));
    }

    fn wake_dependents(&self, dependency: &Dependency) {
        self.dependents.of(dependency).into_iter().for_each(|key| self.queues.add_csv(key));
    }

    /// Wakes the CSV that the owner labels of an object name.
    fn wake_owner(&self, metadata: &kube::core::ObjectMeta) {
        let labels = metadata.labels.as_ref();
        let owner = labels.and_then(|labels| owner_by_label(labels, ClusterServiceVersion::KIND));
        if let Some(owner) = owner {
            self.queues.add_csv(ObjectKey::namespaced(owner.namespace, owner.name));
        }
    }

    /// Lets failed installs of a namespace be tried again at once.
    fn mark_failed_installs(&self, namespace: &str) {
        let failed = self.stores.csvs.list_in(namespace);
        for csv in failed.iter().filter(|csv| csv::install_failed(csv)) {
            let key = ObjectKey::of(csv.as_ref());
            self.changes.mark(key.clone());
            self.queues.add_csv(key);
        }
    }
}

#[cfg(test)]
mod convergence;
#[cfg(test)]
mod tests;
