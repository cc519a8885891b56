//! Failed InstallPlans whose account may have got the rights that it lacked.
//!
//! Roles, RoleBindings and ServiceAccounts are followed by their metadata only: that something
//! changed in a namespace is all that matters (spec catalog-operator 4.3).

use std::sync::Arc;

use dashmap::DashSet;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::PartialObjectMeta;
use kube::{Api, Client, Resource};
use olm_kit::ObjectKey;
use olm_kit::metrics::WatchMetrics;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Change, Config, Watch, WatchBuilder};
use olm_types::api::{InstallPlan, InstallPlanPhase};

use crate::queues::Queues;
use crate::stores::Stores;

/// Plans to be tried again. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ChangedRights(Arc<DashSet<ObjectKey>>);

impl ChangedRights {
    /// The plan may be tried again.
    pub fn mark(&self, plan: ObjectKey) {
        self.0.insert(plan);
    }

    /// Whether the plan may be tried again; it may not once this was answered.
    pub fn take(&self, plan: &ObjectKey) -> bool {
        self.0.remove(plan).is_some()
    }
}

/// The watches before they start.
pub struct RightsWatches {
    roles: WatchBuilder<PartialObjectMeta<Role>>,
    bindings: WatchBuilder<PartialObjectMeta<RoleBinding>>,
    accounts: WatchBuilder<PartialObjectMeta<ServiceAccount>>,
}

impl RightsWatches {
    /// Watches on the whole cluster.
    pub fn new(client: &Client, metrics: &WatchMetrics) -> Self {
        Self {
            roles: watch(client, metrics),
            bindings: watch(client, metrics),
            accounts: watch(client, metrics),
        }
    }

    /// Starts them; every change marks the failed plans of its namespace and queues them.
    pub fn start(self, marker: &Marker, tasks: &Tasks) {
        let me = marker.clone();
        self.roles.on_change(move |change| me.changed(change)).start(tasks);
        let me = marker.clone();
        self.bindings.on_change(move |change| me.changed(change)).start(tasks);
        let me = marker.clone();
        self.accounts.on_change(move |change| me.changed(change)).start(tasks);
    }
}

/// Marks failed plans.
#[derive(Clone)]
pub struct Marker {
    pub(crate) stores: Stores,
    pub(crate) queues: Queues,
    pub(crate) rights: ChangedRights,
}

impl Marker {
    fn changed<K: Resource>(&self, change: &Change<K>) {
        let Some(namespace) = change.latest().and_then(|object| object.meta().namespace.clone())
        else {
            return;
        };
        for plan in self.stores.plans.list_in(&namespace).iter().filter(|plan| may_recover(plan)) {
            let key = ObjectKey::of(&**plan);
            self.rights.mark(key.clone());
            self.queues.plans.add(key);
        }
    }
}

fn may_recover(plan: &InstallPlan) -> bool {
    plan.status.as_ref().is_some_and(|status| {
        status.phase == InstallPlanPhase::Failed && status.attenuated_service_account_ref.is_some()
    })
}

fn watch<K>(client: &Client, metrics: &WatchMetrics) -> WatchBuilder<PartialObjectMeta<K>>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + 'static,
{
    let api = Api::<PartialObjectMeta<K>>::all(client.clone());
    Watch::builder(api, Config::default()).metrics(metrics.clone()).strip(|object| {
        let metadata = std::mem::take(&mut object.metadata);
        object.metadata = ObjectMeta {
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            ..ObjectMeta::default()
        };
    })
}

#[cfg(test)]
mod tests {
    use olm_types::api::InstallPlanStatus;

    use super::*;

    #[test]
    fn only_failed_plans_of_an_account_are_tried_again() {
        let plan = |phase, account: bool| {
            let status = InstallPlanStatus {
                phase,
                attenuated_service_account_ref: account.then(Default::default),
                ..InstallPlanStatus::default()
            };
            may_recover(&InstallPlan { status: Some(status), ..InstallPlan::default() })
        };
        assert!(plan(InstallPlanPhase::Failed, true));
        assert!(!plan(InstallPlanPhase::Failed, false));
        assert!(!plan(InstallPlanPhase::Installing, true));
    }

    #[test]
    fn a_mark_counts_once() {
        let (rights, plan) = (ChangedRights::default(), ObjectKey::namespaced("ns", "p"));
        rights.mark(plan.clone());
        assert_eq!((rights.take(&plan), rights.take(&plan)), (true, false));
    }
}
