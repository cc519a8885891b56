//! Changes that concern copies of CSVs.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_types::api::{ClusterServiceVersion, OLMConfig, OperatorGroup};
use olm_types::labels;
use olm_types::owner::owner_by_label;

use super::Triggers;
use crate::controllers::copied_csv::CopyKey;
use crate::stored_copy::StoredCopy;

/// Pause before copies are counted, so that many changes are counted once.
const CENSUS_PAUSE: Duration = Duration::from_secs(1);

impl Triggers {
    pub(super) fn copy(&self, change: &Change<StoredCopy>) {
        for copy in change.versions() {
            let origin = ObjectKey::namespaced(copy.origin(), copy.name());
            self.queues.add_copy(CopyKey::one(origin, copy.namespace()));
            if change.new.is_none() {
                self.wake_namesakes(copy.name(), copy.namespace());
            }
        }
        if change.old.is_none() || change.new.is_none() {
            self.count_copies();
        }
    }

    pub(super) fn config(&self, change: &Change<OLMConfig>) {
        let Some(config) = change.latest() else { return };
        self.queues.add_config(config.metadata.name.as_deref().unwrap_or_default());
        let enabled = |config: &Option<std::sync::Arc<OLMConfig>>| {
            config.as_ref().map(|config| config.copied_csvs_enabled())
        };
        if enabled(&change.old) != enabled(&change.new) {
            self.stores.global_groups().iter().for_each(|group| self.copy_all_of(group));
        }
    }

    /// A CSV changed, so its copies may have to. A name that became free may be taken by a copy.
    pub(super) fn copies_of(&self, change: &Change<ClusterServiceVersion>) {
        let Some(csv) = change.latest() else { return };
        let key = ObjectKey::of(csv.as_ref());
        if change.old.is_none() || change.new.is_none() {
            self.count_copies();
        }
        if change.new.is_none() {
            self.originals.forget(&key);
            self.wake_namesakes(&key.name, key.namespace.as_deref().unwrap_or_default());
        }
        self.queues.add_copy(CopyKey::all(key));
    }

    /// A namespace came or goes: operators that watch it have a copy there.
    pub(super) fn copies_in(&self, change: &Change<Namespace>) {
        let going = |namespace: &Option<std::sync::Arc<Namespace>>| {
            namespace.as_ref().map(|namespace| namespace.metadata.deletion_timestamp.is_some())
        };
        let Some(latest) = change.latest() else { return };
        if going(&change.old) == going(&change.new) {
            return;
        }
        let name = latest.metadata.name.as_deref().unwrap_or_default();
        let watches = |group: &OperatorGroup| {
            let listed = group.status.iter().flat_map(|status| &status.namespaces);
            listed.into_iter().any(|listed| listed.is_empty() || listed == name)
        };
        for group in self.stores.groups.list_where(watches) {
            let home = group.metadata.namespace.as_deref().unwrap_or_default();
            for csv in self.stores.csvs.list_in(home) {
                self.queues.add_copy(CopyKey::one(ObjectKey::of(csv.as_ref()), name));
            }
        }
        self.count_copies();
    }

    /// A Role or RoleBinding of an operator changed, or a copy of one.
    pub(super) fn copies_of_rights(&self, metadata: &ObjectMeta) {
        let Some(labels) = &metadata.labels else { return };
        let Some(owner) = owner_by_label(labels, ClusterServiceVersion::KIND) else { return };
        let key = match labels.get(labels::COPIED_FROM) {
            Some(home) => CopyKey::one(ObjectKey::namespaced(home, owner.name), owner.namespace),
            None => CopyKey::all(ObjectKey::namespaced(owner.namespace, owner.name)),
        };
        self.queues.add_copy(key);
    }

    /// Looks at the copies of all members of a group.
    pub(super) fn copy_all_of(&self, group: &OperatorGroup) {
        let home = group.metadata.namespace.as_deref().unwrap_or_default();
        for csv in self.stores.csvs.list_in(home) {
            self.queues.add_copy(CopyKey::all(ObjectKey::of(csv.as_ref())));
        }
        self.count_copies();
    }

    /// In `namespace`, the name is free: originals of that name may have a copy there.
    fn wake_namesakes(&self, name: &str, namespace: &str) {
        let is_namesake = |csv: &ClusterServiceVersion| csv.metadata.name.as_deref() == Some(name);
        for csv in self.stores.csvs.list_where(is_namesake) {
            self.queues.add_copy(CopyKey::one(ObjectKey::of(csv.as_ref()), namespace));
        }
    }

    fn count_copies(&self) {
        for config in self.stores.configs.list() {
            let name = config.metadata.name.clone().unwrap_or_default();
            self.queues.configs.add_after(name, CENSUS_PAUSE);
        }
    }
}
