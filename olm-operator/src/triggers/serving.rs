//! Changes of what stands behind servers.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Resource;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_lifecycle::certificates::{KUBE_SYSTEM, auth_readers};
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

    /// Wakes the CSVs whose servers ask about their callers through a binding in `kube-system`. As
    /// in v0 it names no owner: its subject says in which namespace they are, its name the server.
    pub(super) fn requeue_callers(&self, binding: &RoleBinding) {
        if binding.metadata.namespace.as_deref() != Some(KUBE_SYSTEM) {
            return;
        }
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        let subjects = binding.subjects.iter().flatten();
        let homes: BTreeSet<&str> =
            subjects.filter_map(|subject| subject.namespace.as_deref()).collect();
        for csv in homes.into_iter().flat_map(|home| self.stores.csvs.list_in(home)) {
            if auth_readers(&csv, std::iter::empty()).iter().any(|reader| reader == name) {
                self.queues.add_csv(ObjectKey::of(csv.as_ref()));
            }
        }
    }
}
