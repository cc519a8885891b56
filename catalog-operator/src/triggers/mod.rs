//! Which change asks for which work (spec catalog-operator 1.8, 2.2, 2.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use kube::ResourceExt;
use olm_kit::ObjectKey;
use olm_kit::watch::{Cached, Change, Store};
use olm_lifecycle::subscription::declarations;
use olm_lifecycle::subscription::readiness::is_as_ready;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription,
};
use olm_types::bundle::CatalogKey;
use olm_types::reasons::install_plan::INSTALL_CHECK_FAILED;

use crate::catalogs::CatalogChange;
use crate::queues::Queues;
use crate::relevance::{awaits_bundle, same_catalog, same_csv};
use crate::servers;
use crate::stores::Stores;

/// Turns changes into keys.
#[derive(Clone)]
pub struct Triggers {
    stores: Stores,
    queues: Queues,
    global_namespace: String,
}

impl Triggers {
    /// Triggers that fill `queues`.
    pub fn new(stores: &Stores, queues: &Queues, global_namespace: &str) -> Self {
        Self {
            stores: stores.clone(),
            queues: queues.clone(),
            global_namespace: global_namespace.to_owned(),
        }
    }

    /// Listens to all stores from now on.
    pub fn listen(&self) {
        let stores = &self.stores;
        self.on(&stores.catalogs, Self::catalog);
        self.on(&stores.subscriptions, Self::subscription);
        self.on(&stores.plans, Self::plan);
        self.on(&stores.groups, Self::group);
        self.on(&stores.csvs, Self::csv);
        self.on(&stores.unpack_jobs, |me, _| me.bundles_moved());
        self.on(&stores.unpack_pods, |me, _| me.bundles_moved());
        servers::listen(&stores.servers, &stores.catalogs, &self.queues.catalogs);
    }

    /// Calls `listener` for every change of a store from now on.
    fn on<K: Cached + 'static>(&self, store: &Store<K>, listener: fn(&Self, &Change<K>)) {
        let me = self.clone();
        store.on_change(move |change| listener(&me, change));
    }

    /// A connection or a snapshot changed. A global catalog concerns every namespace that
    /// subscribes to anything: a resolution uses all catalogs it can see.
    pub fn connected_catalog(&self, key: &CatalogKey, change: CatalogChange) {
        self.queues.catalogs.add(ObjectKey::namespaced(&key.namespace, &key.name));
        if matches!(change, CatalogChange::Loaded | CatalogChange::Lost) {
            self.namespaces_of(&key.namespace)
                .into_iter()
                .for_each(|namespace| self.queues.namespaces.add(namespace));
        }
        if change == CatalogChange::Loaded {
            self.queues.packages.add(ObjectKey::namespaced(&key.namespace, &key.name));
            self.subscribers(key)
                .for_each(|subscription| self.queues.subscriptions.add(subscription));
        }
    }

    /// The Subscriptions to a catalog: what they say about deprecations depends on its content.
    fn subscribers(&self, key: &CatalogKey) -> impl Iterator<Item = ObjectKey> + use<> {
        let (all, key) = (self.stores.subscriptions.list(), key.clone());
        all.into_iter()
            .filter(move |subscription| {
                *key.name == subscription.spec.source
                    && *key.namespace == subscription.spec.source_namespace
            })
            .map(|subscription| ObjectKey::of(&*subscription))
    }

    fn catalog(&self, change: &Change<CatalogSource>) {
        let Some(catalog) = change.latest() else { return };
        self.queues.catalogs.add(ObjectKey::of(&**catalog));
        if let (Some(old), Some(new)) = (&change.old, &change.new)
            && same_catalog(old, new)
        {
            return;
        }
        self.queues.packages.add(ObjectKey::of(&**catalog));
        let namespace = catalog.namespace().unwrap_or_default();
        let subscriptions = if namespace == self.global_namespace {
            self.stores.subscriptions.list()
        } else {
            self.stores.subscriptions.list_in(&namespace)
        };
        subscriptions
            .iter()
            .for_each(|subscription| self.queues.subscriptions.add(ObjectKey::of(&**subscription)));
    }

    fn subscription(&self, change: &Change<Subscription>) {
        let Some(subscription) = change.latest() else { return };
        self.queues.subscriptions.add(ObjectKey::of(&**subscription));
        fn declared(one: Option<&Arc<Subscription>>) -> Vec<(&str, &str)> {
            one.map(|one| declarations(one)).unwrap_or_default()
        }
        if change.new.as_ref().is_none_or(is_going)
            || declared(change.old.as_ref()) != declared(change.new.as_ref())
        {
            // What was made for it may not be executed any more, or may be from now on.
            self.open_plans_of(&subscription.namespace().unwrap_or_default());
        }
    }

    /// A plan concerns its owners, and the Subscriptions that it generated: those name it without
    /// owning it.
    fn plan(&self, change: &Change<InstallPlan>) {
        let Some(plan) = change.latest() else { return };
        self.queues.plans.add(ObjectKey::of(&**plan));
        let namespace = plan.namespace().unwrap_or_default();
        for owner in plan.owner_references().iter().filter(|owner| owner.kind == Subscription::KIND)
        {
            self.queues.subscriptions.add(ObjectKey::namespaced(&namespace, &owner.name));
        }
        let subscriptions = self.stores.subscriptions.list_in(&namespace);
        for subscription in subscriptions.iter().filter(|subscription| names(subscription, plan)) {
            self.queues.subscriptions.add(ObjectKey::of(&**subscription));
        }
        if was_closed(change) {
            self.open_plans_of(&namespace);
        }
    }

    fn group(&self, change: &Change<OperatorGroup>) {
        let Some(namespace) = change.latest().and_then(|group| group.namespace()) else { return };
        self.open_plans_of(&namespace);
        self.queues.namespaces.add(namespace);
    }

    /// Has all plans of a namespace looked at that are not done.
    fn open_plans_of(&self, namespace: &str) {
        for plan in self.stores.plans.list_in(namespace).iter().filter(|plan| !plan.is_over()) {
            self.queues.plans.add(ObjectKey::of(&**plan));
        }
    }

    /// Has the plans of a namespace looked at that must not be executed as things were.
    fn held_plans_of(&self, namespace: &str) {
        let held = |plan: &&Arc<InstallPlan>| !plan.is_over() && is_held(plan);
        for plan in self.stores.plans.list_in(namespace).iter().filter(held) {
            self.queues.plans.add(ObjectKey::of(&**plan));
        }
    }

    /// A CSV that was deleted, or is back, matters to the plans that were made for it.
    fn csv(&self, change: &Change<ClusterServiceVersion>) {
        if is_there(change.old.as_ref()) != is_there(change.new.as_ref())
            && let Some(namespace) = change.latest().and_then(|csv| csv.namespace())
        {
            self.held_plans_of(&namespace);
        }
        let both = change.old.as_ref().zip(change.new.as_ref());
        if !both.is_some_and(|(old, new)| is_as_ready(old, new)) {
            self.subscriptions_with(change);
        }
        let unchanged = both.is_some_and(|(old, new)| same_csv(old, new));
        if let Some(namespace) =
            change.latest().and_then(|csv| csv.namespace()).filter(|_| !unchanged)
        {
            self.queues.namespaces.add(namespace);
        }
    }

    /// The Subscriptions that have a CSV installed: they are as ready as it is.
    fn subscriptions_with(&self, change: &Change<ClusterServiceVersion>) {
        let Some(csv) = change.latest() else { return };
        let namespace = csv.namespace().unwrap_or_default();
        let has_it = |subscription: &&Arc<Subscription>| {
            let status = subscription.status.as_ref();
            status.is_some_and(|status| status.installed_csv == csv.metadata.name)
        };
        for subscription in self.stores.subscriptions.list_in(&namespace).iter().filter(has_it) {
            self.queues.subscriptions.add(ObjectKey::of(&**subscription));
        }
    }

    /// What unpacks a bundle got on: whoever waits for a bundle looks at it. It may be for several
    /// namespaces, and in none of them.
    pub fn bundles_moved(&self) {
        for subscription in self.stores.subscriptions.list_where(awaits_bundle) {
            self.queues.namespaces.add(subscription.namespace().unwrap_or_default());
        }
    }

    fn namespaces_of(&self, catalog_namespace: &str) -> BTreeSet<String> {
        if catalog_namespace == self.global_namespace {
            self.stores
                .subscriptions
                .list()
                .iter()
                .filter_map(|subscription| subscription.namespace())
                .collect()
        } else {
            BTreeSet::from([catalog_namespace.to_owned()])
        }
    }
}

fn names(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let status = subscription.status.as_ref();
    let reference = status.and_then(|status| status.install_plan_ref.as_ref());
    reference.is_some_and(|reference| reference.name == plan.metadata.name)
}

/// Whether the next plan may begin.
fn was_closed(change: &Change<InstallPlan>) -> bool {
    let is_open =
        |plan: &Option<Arc<InstallPlan>>| plan.as_ref().is_some_and(|plan| !plan.is_over());
    is_open(&change.old) && !is_open(&change.new)
}

fn is_going<K: ResourceExt>(object: &Arc<K>) -> bool {
    object.meta().deletion_timestamp.is_some()
}

fn is_there<K: ResourceExt>(object: Option<&Arc<K>>) -> bool {
    object.is_some_and(|object| !is_going(object))
}

/// Whether a plan waits for something to be as it was.
fn is_held(plan: &InstallPlan) -> bool {
    let conditions = plan.status.iter().flat_map(|status| &status.conditions);
    conditions
        .filter_map(|condition| condition.reason.as_deref())
        .any(|reason| reason == INSTALL_CHECK_FAILED)
}

#[cfg(test)]
mod tests;
