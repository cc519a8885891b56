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
mod rbac;
mod serving;

use olm_kit::ObjectKey;
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
        let (stores, me) = (&self.stores, || self.clone());
        let it = me();
        stores.csvs.on_change(move |change| it.csv(change));
        let it = me();
        stores.copies.on_change(move |change| it.copy(change));
        let it = me();
        stores.configs.on_change(move |change| it.config(change));
        let it = me();
        stores.groups.on_change(move |change| it.group(change));
        let it = me();
        stores.namespaces.on_change(move |change| it.namespace(change));
        let it = me();
        stores.deployments.on_change(move |change| it.deployment(change));
        let it = me();
        stores.accounts.on_change(move |change| it.account(change));
        let it = me();
        stores.roles.on_change(move |change| it.role(change));
        let it = me();
        stores.role_bindings.on_change(move |change| it.role_binding(change));
        let it = me();
        stores.cluster_roles.on_change(move |change| it.cluster_role(change));
        let it = me();
        stores.cluster_role_bindings.on_change(move |change| it.cluster_role_binding(change));
        let it = me();
        stores.crds.on_change(move |change| it.crd(change));
        let it = me();
        stores.api_services.on_change(move |change| it.api_service(change));
        let it = me();
        stores.serving.services.on_change(move |change| it.service(change));
        let it = me();
        stores.serving.secrets.on_change(move |change| it.secret(change));
        let it = me();
        stores.serving.validating.on_change(move |change| it.webhook(change));
        let it = me();
        stores.serving.mutating.on_change(move |change| it.webhook(change));
        let it = me();
        stores.conditions.on_change(move |change| it.condition(change));
        self.listen_to_components();
        let it = me();
        stores.subscriptions.on_change(move |change| it.subscription(change));
        let it = me();
        stores.proxies.on_change(move |change| it.proxy(change));
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
