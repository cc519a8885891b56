//! Changes of OperatorGroups and namespaces.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_opgroup::{ApiSet, group_apis, oldest, provided_apis};
use olm_types::annotations::ALLOWED_TARGETS;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use olm_types::reasons::csv as reasons;

use super::Triggers;
use super::csv::reason;

impl Triggers {
    pub(super) fn group(&self, change: &Change<OperatorGroup>) {
        let Some(latest) = change.latest() else { return };
        let namespace = latest.metadata.namespace.as_deref().unwrap_or_default();
        self.queues.add_group(ObjectKey::of(latest.as_ref()));
        if change.old.is_none() || change.new.is_none() {
            // The number of groups in the namespace is part of each one's status.
            let groups = self.stores.groups.list_in(namespace);
            for group in &groups {
                self.queues.add_group(ObjectKey::of(group.as_ref()));
            }
            // Of many only the oldest label their targets.
            for shown in oldest(groups.iter().map(AsRef::as_ref)).chain([latest.as_ref()]) {
                let reached = self.reach(shown);
                reached.iter().for_each(|name| self.queues.add_namespace(name));
            }
        }
        for csv in self.stores.csvs.list_in(namespace) {
            self.queues.add_csv(ObjectKey::of(csv.as_ref()));
        }
        if says_something_else(change) {
            self.mark_failed_installs(namespace);
            self.wake_contenders(change);
            self.wake_targets(change);
            self.copy_all_of(latest);
        }
    }

    pub(super) fn namespace(&self, change: &Change<Namespace>) {
        let Some(latest) = change.latest() else { return };
        let name = latest.metadata.name.as_deref().unwrap_or_default();
        self.queues.add_namespace(name);
        self.copies_in(change);
        self.wake_inhabitants(change, name);
        let labels = |namespace: &Option<Arc<Namespace>>| {
            namespace.as_ref().map(|namespace| namespace.metadata.labels.clone())
        };
        if labels(&change.old) == labels(&change.new) {
            return;
        }
        for group in self.stores.groups.list_where(selects_by_label) {
            self.queues.add_group(ObjectKey::of(group.as_ref()));
            let home = group.metadata.namespace.as_deref().unwrap_or_default();
            for csv in self.stores.csvs.list_in(home) {
                self.queues.add_csv(ObjectKey::of(csv.as_ref()));
            }
        }
    }

    /// What the groups and the CSVs of a namespace may reach is said on the namespace.
    fn wake_inhabitants(&self, change: &Change<Namespace>, name: &str) {
        let allowed = |namespace: &Option<Arc<Namespace>>| {
            let annotations = namespace.as_ref()?.metadata.annotations.as_ref()?;
            ALLOWED_TARGETS.value(annotations).map(str::to_owned)
        };
        if allowed(&change.old) != allowed(&change.new) {
            for group in self.stores.groups.list_in(name) {
                self.queues.add_group(ObjectKey::of(group.as_ref()));
                for target in self.reach(&group) {
                    self.queues.add_namespace(&target);
                }
            }
            for csv in self.stores.csvs.list_in(name) {
                self.queues.add_csv(ObjectKey::of(csv.as_ref()));
            }
        }
    }

    /// Wakes CSVs of any namespace that provide an API which the group lists or listed, and those
    /// that failed because of another group.
    fn wake_contenders(&self, change: &Change<OperatorGroup>) {
        let listed: ApiSet = change.versions().flat_map(|group| group_apis(group)).collect();
        let contends = |csv: &ClusterServiceVersion| {
            let failed_for_a_group = matches!(
                reason(csv),
                reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT
                    | reasons::CANNOT_MODIFY_STATIC_OPERATOR_GROUP_PROVIDED_APIS
            );
            failed_for_a_group || !provided_apis(&csv.spec).is_disjoint(&listed)
        };
        for csv in self.stores.csvs.list_where(contends) {
            self.queues.add_csv(ObjectKey::of(csv.as_ref()));
        }
    }

    /// Wakes the namespaces that the group gains or loses by its status, which follows what it gives;
    /// all that it reaches, when it asks for something else or goes.
    fn wake_targets(&self, change: &Change<OperatorGroup>) {
        let (Some(old), Some(new)) = (&change.old, &change.new) else {
            let reached = change.versions().flat_map(|group| self.reach(group));
            return reached.for_each(|name| self.queues.add_namespace(&name));
        };
        let asks_anew = old.spec != new.spec
            || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp;
        let woken: BTreeSet<String> = match asks_anew {
            true => &self.reach(old) | &self.reach(new),
            false => &listed(old) ^ &listed(new),
        };
        woken.iter().for_each(|name| self.queues.add_namespace(name));
    }

    /// The namespaces that a group lists or asks for, whether or not it gets them.
    fn reach(&self, group: &OperatorGroup) -> BTreeSet<String> {
        let asked = self.stores.live_namespaces().selected(&group.spec).unwrap_or_default();
        let mut all = listed(group);
        all.extend(asked.names().map(str::to_owned));
        all
    }
}

fn listed(group: &OperatorGroup) -> BTreeSet<String> {
    group.status.iter().flat_map(|status| status.namespaces.iter().cloned()).collect()
}

/// Whether anything changed that another object looks at.
fn says_something_else(change: &Change<OperatorGroup>) -> bool {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return true };
    old.spec != new.spec
        || old.status != new.status
        || old.metadata.annotations != new.metadata.annotations
        || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
}

fn selects_by_label(group: &OperatorGroup) -> bool {
    group.spec.target_namespaces.is_empty() && group.spec.selector.is_some()
}
