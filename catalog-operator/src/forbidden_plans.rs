//! Failed InstallPlans whose account may have got the rights that it lacked.
//!
//! Roles, RoleBindings and ServiceAccounts are followed by their metadata only: that something
//! changed in a namespace is all that matters (spec catalog-operator 4.3).

use std::fmt::Debug;
use std::sync::Arc;

use dashmap::DashSet;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::PartialObjectMeta;
use olm_kit::ObjectKey;
use olm_kit::watch::{Change, Config, Store, WatchSet};
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

/// Metadata of what gives rights to accounts.
pub struct RightsStores {
    roles: Store<PartialObjectMeta<Role>>,
    bindings: Store<PartialObjectMeta<RoleBinding>>,
    accounts: Store<PartialObjectMeta<ServiceAccount>>,
}

impl RightsStores {
    /// The stores that these watches will fill.
    pub fn watched(watches: &mut WatchSet) -> Self {
        Self { roles: watch(watches), bindings: watch(watches), accounts: watch(watches) }
    }

    /// Has every change mark the failed plans of its namespace and queue them.
    pub fn listen(&self, marker: &Marker) {
        let me = marker.clone();
        self.roles.on_change(move |change| me.changed(change));
        let me = marker.clone();
        self.bindings.on_change(move |change| me.changed(change));
        let me = marker.clone();
        self.accounts.on_change(move |change| me.changed(change));
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

fn watch<K>(watches: &mut WatchSet) -> Store<PartialObjectMeta<K>>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Send + Sync + 'static,
{
    watches.add(Config::default(), |watch| watch.strip(only_identity))
}

fn only_identity<K>(object: &mut PartialObjectMeta<K>) {
    let metadata = std::mem::take(&mut object.metadata);
    object.metadata = ObjectMeta {
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resource_version: metadata.resource_version,
        ..ObjectMeta::default()
    };
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
