//! Changes of what stands behind servers.

use k8s_openapi::api::core::v1::{Secret, Service};
use kube::Resource;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_types::api::ClusterServiceVersion;

use super::Triggers;

impl Triggers {
    pub(super) fn service(&self, change: &Change<Service>) {
        change.versions().for_each(|service| self.wake_referenced(service.as_ref()));
    }

    pub(super) fn secret(&self, change: &Change<Secret>) {
        change.versions().for_each(|secret| self.wake_referenced(secret.as_ref()));
    }

    pub(super) fn webhook<K: Resource>(&self, change: &Change<K>) {
        change.versions().for_each(|configuration| self.wake_owner(configuration.meta()));
    }

    /// Wakes the CSVs that the owner references of an object name.
    pub(super) fn wake_referenced<K: Resource>(&self, object: &K) {
        let namespace = object.meta().namespace.as_deref().unwrap_or_default();
        for owner in object.meta().owner_references.iter().flatten() {
            if owner.kind == ClusterServiceVersion::KIND {
                self.queues.add_csv(ObjectKey::namespaced(namespace, &owner.name));
            }
        }
    }
}
