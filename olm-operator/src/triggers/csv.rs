//! Changes of ClusterServiceVersions and of what belongs to one.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_lifecycle::csv::Chain;
use olm_opgroup::provided_apis;
use olm_types::api::{ClusterServiceVersion, OperatorCondition};
use olm_types::reasons::csv as reasons;

use super::Triggers;

impl Triggers {
    pub(super) fn csv(&self, change: &Change<ClusterServiceVersion>) {
        self.dependents.update(change.old.as_deref(), change.new.as_deref());
        self.measure(change);
        self.copies_of(change);
        self.wake_related_of(change);
        for csv in change.versions() {
            self.wake_related(csv);
        }
        let Some(latest) = change.latest() else { return };
        let key = ObjectKey::of(latest.as_ref());
        match (&change.old, &change.new) {
            (_, None) => {
                self.changes.forget(&key);
                self.recheck_services_of(latest);
            }
            (Some(old), Some(new)) if old.metadata.generation != new.metadata.generation => {
                self.changes.mark(key);
            }
            _ => {}
        }
        if concerns_group(change) {
            self.wake_groups_of(latest.metadata.namespace.as_deref().unwrap_or_default());
        }
    }

    /// Other OLM operators of the cluster count the CSVs of their namespaces.
    fn measure(&self, change: &Change<ClusterServiceVersion>) {
        let is_ours = |csv: &ClusterServiceVersion| self.queues.looks_after(&ObjectKey::of(csv));
        if change.latest().is_some_and(|csv| is_ours(csv)) {
            let count = match self.queues.looks_after_all() {
                true => self.stores.csvs.len(),
                false => self.stores.csvs.list_where(is_ours).len(),
            };
            self.metrics.follow(change, count);
        }
    }

    pub(super) fn deployment(&self, change: &Change<Deployment>) {
        for deployment in change.versions() {
            self.wake_owner(&deployment.metadata);
            self.wake_referenced(deployment.as_ref());
        }
        if let Some(latest) = change.latest() {
            self.wake_installers(latest);
        }
    }

    /// Wakes the CSVs that describe a Deployment of this name, whoever owns it: one may wait until
    /// it is gone, or until it is ready although another version of the operator wrote it last.
    fn wake_installers(&self, deployment: &Deployment) {
        let namespace = deployment.metadata.namespace.as_deref().unwrap_or_default();
        let name = deployment.metadata.name.as_deref().unwrap_or_default();
        let describes = |csv: &ClusterServiceVersion| {
            let mut entries = csv.spec.install.spec.iter().flat_map(|spec| &spec.deployments);
            entries.any(|entry| entry.name == name)
        };
        for csv in self.stores.csvs.list_in(namespace).iter().filter(|csv| describes(csv)) {
            self.queues.add_csv(ObjectKey::of(csv.as_ref()));
        }
    }

    pub(super) fn condition(&self, change: &Change<OperatorCondition>) {
        let Some(condition) = change.latest() else { return };
        let namespace = condition.metadata.namespace.as_deref().unwrap_or_default();
        let name = condition.metadata.name.as_deref().unwrap_or_default();
        self.queues.add_condition(ObjectKey::namespaced(namespace, name));
        for csv in self.stores.csvs.list_in(namespace) {
            if csv.spec.replaces.as_deref() == Some(name) {
                self.queues.add_csv(ObjectKey::of(csv.as_ref()));
            }
        }
    }

    /// Wakes the CSV, those linked to it by replacement, and those that failed because another
    /// one of the namespace owns their APIs.
    pub(super) fn wake_related(&self, csv: &ClusterServiceVersion) {
        let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
        let siblings = self.stores.csvs.list_in(namespace);
        let chain = Chain::new(siblings.iter().map(AsRef::as_ref));
        let mut names: BTreeSet<&str> = chain.members(csv);
        names.extend(
            siblings
                .iter()
                .filter(|other| is_in_conflict(other))
                .filter_map(|other| other.metadata.name.as_deref()),
        );
        for name in names {
            self.queues.add_csv(ObjectKey::namespaced(namespace, name));
        }
    }

    fn wake_groups_of(&self, namespace: &str) {
        for group in self.stores.groups.list_in(namespace) {
            self.queues.add_group(ObjectKey::of(group.as_ref()));
        }
    }
}

/// Whether the last install was refused, so that a change around it is worth another try.
pub(super) fn install_failed(csv: &ClusterServiceVersion) -> bool {
    matches!(
        reason(csv),
        reasons::INSTALL_COMPONENT_FAILED | reasons::INSTALL_COMPONENT_FAILED_NO_RETRY
    )
}

pub(super) fn reason(csv: &ClusterServiceVersion) -> &str {
    let reason = csv.status.as_ref().and_then(|status| status.reason.as_deref());
    reason.unwrap_or_default()
}

fn is_in_conflict(csv: &ClusterServiceVersion) -> bool {
    reason(csv) == reasons::OWNER_CONFLICT
}

/// Whether the change may alter what a group's members provide or are about to provide.
fn concerns_group(change: &Change<ClusterServiceVersion>) -> bool {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return true };
    let phase = |csv: &ClusterServiceVersion| csv.status.as_ref().map(|status| status.phase);
    phase(old) != phase(new)
        || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        || provided_apis(&old.spec) != provided_apis(&new.spec)
}
