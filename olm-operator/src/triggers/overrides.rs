//! Changes of what changes the pods of operators: Subscriptions and the cluster's proxy.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_types::api::{Proxy, Subscription};

use super::Triggers;

impl Triggers {
    /// Wakes the CSVs that the Subscription had and has installed. Another configuration is worth
    /// another try where the install failed.
    pub(super) fn subscription(&self, change: &Change<Subscription>) {
        let config = |subscription: &Arc<Subscription>| subscription.spec.config.clone();
        let configured_anew =
            change.old.as_ref().and_then(config) != change.new.as_ref().and_then(config);
        let installed: BTreeSet<ObjectKey> =
            change.versions().filter_map(|subscription| installed_by(subscription)).collect();
        for key in installed {
            if configured_anew {
                self.changes.mark(key.clone());
            }
            self.queues.add_csv(key);
        }
    }

    /// Wakes all CSVs when the settings in force are others.
    pub(super) fn proxy(&self, change: &Change<Proxy>) {
        let status = |proxy: &Proxy| proxy.status.clone().unwrap_or_default();
        let before = change.old.as_deref().map(status).unwrap_or_default();
        let after = change.new.as_deref().map(status).unwrap_or_default();
        if before == after {
            return;
        }
        for csv in self.stores.csvs.list() {
            self.queues.add_csv(ObjectKey::of(csv.as_ref()));
        }
    }
}

fn installed_by(subscription: &Subscription) -> Option<ObjectKey> {
    let csv = subscription.status.as_ref()?.installed_csv.as_deref()?;
    Some(ObjectKey::namespaced(subscription.metadata.namespace.as_deref()?, csv))
}
