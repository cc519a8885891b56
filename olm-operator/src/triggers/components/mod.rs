//! Changes of what belongs to Operators (spec olm-operator 6.1-6.5).
//!
//! One listener serves every kind that can be a component. It keeps the index right and wakes the
//! Operators that the labels of the object name, and the CSVs that own it when it is new or its
//! labels changed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use olm_kit::ObjectKey;
use olm_kit::watch::{Change, Store};
use olm_lifecycle::labeller::is_unlabelled;
use olm_lifecycle::operator::{is_cut, operator_names};
use olm_types::api::{ClusterServiceVersion, Operator, OperatorCondition, Subscription};
use olm_types::labels::component;

use super::Triggers;
use crate::components::{ComponentId, ComponentKind, owners};
use crate::dependents::Dependency;

impl Triggers {
    /// Listens to all stores of kinds that can be components, and to Operators.
    pub(super) fn listen_to_components(&self) {
        let stores = &self.stores;
        self.follow(ComponentKind::ApiService, &stores.api_services);
        self.follow(ComponentKind::ClusterRole, &stores.cluster_roles);
        self.follow(ComponentKind::ClusterRoleBinding, &stores.cluster_role_bindings);
        self.follow(ComponentKind::ClusterServiceVersion, &stores.csvs);
        self.follow(ComponentKind::ConfigMap, &stores.config_maps);
        self.follow(ComponentKind::CustomResourceDefinition, &stores.crds);
        self.follow(ComponentKind::Deployment, &stores.deployments);
        self.follow(ComponentKind::InstallPlan, &stores.plans);
        self.follow(ComponentKind::Namespace, &stores.namespaces);
        self.follow(ComponentKind::OperatorCondition, &stores.conditions);
        self.follow(ComponentKind::Role, &stores.roles);
        self.follow(ComponentKind::RoleBinding, &stores.role_bindings);
        self.follow(ComponentKind::Secret, &stores.serving.secrets);
        self.follow(ComponentKind::Service, &stores.serving.services);
        self.follow(ComponentKind::ServiceAccount, &stores.accounts);
        self.follow(ComponentKind::Subscription, &stores.subscriptions);
        self.on(&stores.operators, Self::operator);
        self.on(&stores.subscriptions, Self::adopter);
    }

    fn follow<K>(&self, kind: ComponentKind, store: &Store<K>)
    where
        K: Resource + Send + Sync + 'static,
    {
        let me = self.clone();
        store.on_change(move |change| {
            let (old, new) = (change.old.as_deref(), change.new.as_deref());
            me.component(kind, old.map(Resource::meta), new.map(Resource::meta));
        });
    }

    fn operator(&self, change: &Change<Operator>) {
        if let Some(name) = change.latest().and_then(|operator| operator.metadata.name.as_deref()) {
            self.queues.add_operator(name);
        }
    }

    /// What a Subscription adopts depends on its status, too.
    fn adopter(&self, change: &Change<Subscription>) {
        if let Some(subscription) = &change.new {
            self.queues.add_subscription(ObjectKey::of(subscription.as_ref()));
        }
    }

    fn component(&self, kind: ComponentKind, old: Option<&ObjectMeta>, new: Option<&ObjectMeta>) {
        self.components.update(kind, old, new);
        for metadata in old.into_iter().chain(new) {
            operator_names(metadata).for_each(|name| self.wake_operators(name));
            self.wake_condition(metadata);
        }
        let Some(metadata) = new else { return };
        if old.is_none_or(|old| relations(old) != relations(metadata)) {
            self.adopt(kind, metadata);
            self.label(kind, metadata);
        }
    }

    /// Wakes the Operator of this name, and those whose longer names were cut to it in labels.
    fn wake_operators(&self, name: &str) {
        self.queues.add_operator(name);
        if !is_cut(name) {
            return;
        }
        let key = component(name).ok();
        let is_cut = |operator: &Operator| {
            let full = operator.metadata.name.as_deref().unwrap_or_default();
            full.len() > name.len() && full.starts_with(name) && component(full).ok() == key
        };
        for operator in self.stores.operators.list_where(is_cut) {
            self.queues.add_operator(operator.metadata.name.as_deref().unwrap_or_default());
        }
    }

    /// Wakes whoever may have to label the object, or what belongs to it.
    fn adopt(&self, kind: ComponentKind, metadata: &ObjectMeta) {
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        let name = metadata.name.as_deref().unwrap_or_default();
        owners(metadata).for_each(|owner| self.queues.add_adoption(owner));
        match kind {
            ComponentKind::ClusterServiceVersion => {
                self.queues.add_adoption(ObjectKey::namespaced(namespace, name));
                self.wake_subscriptions(namespace);
            }
            ComponentKind::InstallPlan => self.wake_subscriptions(namespace),
            ComponentKind::CustomResourceDefinition => {
                let dependency = Dependency::Crd(name.to_owned());
                let dependents = self.dependents.of(&dependency);
                dependents.into_iter().for_each(|csv| self.queues.add_adoption(csv));
            }
            _ => {}
        }
    }

    fn wake_subscriptions(&self, namespace: &str) {
        for subscription in self.stores.subscriptions.list_in(namespace) {
            self.queues.add_subscription(ObjectKey::of(subscription.as_ref()));
        }
    }

    fn label(&self, kind: ComponentKind, metadata: &ObjectMeta) {
        let is_ours = matches!(
            kind,
            ComponentKind::Deployment
                | ComponentKind::ClusterRole
                | ComponentKind::ClusterRoleBinding
        );
        if is_ours && is_unlabelled(metadata) {
            let namespace = metadata.namespace.clone();
            let name = metadata.name.clone().unwrap_or_default();
            let key = ObjectKey { namespace, name };
            self.queues.add_label(ComponentId { kind, key }, owners(metadata).next());
        }
    }

    /// Wakes the OperatorCondition that owns a Role or RoleBinding.
    fn wake_condition(&self, metadata: &ObjectMeta) {
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        let references = metadata.owner_references.iter().flatten();
        for owner in references.filter(|owner| owner.kind == OperatorCondition::KIND) {
            self.queues.add_condition(ObjectKey::namespaced(namespace, &owner.name));
        }
    }

    /// A CSV changed: its OperatorCondition may have to, and what it adopts.
    pub(super) fn wake_related_of(&self, change: &Change<ClusterServiceVersion>) {
        self.queues.add_reports();
        let Some(csv) = change.latest() else { return };
        let generation =
            |csv: &ClusterServiceVersion| (csv.metadata.uid.clone(), csv.metadata.generation);
        let same = change.old.as_deref().zip(change.new.as_deref());
        if same.is_none_or(|(old, new)| generation(old) != generation(new)) {
            self.queues.add_condition(ObjectKey::of(csv.as_ref()));
            self.queues.add_adoption(ObjectKey::of(csv.as_ref()));
        }
    }
}

/// What decides who an object belongs to.
fn relations(metadata: &ObjectMeta) -> impl PartialEq + '_ {
    (&metadata.uid, &metadata.labels, &metadata.owner_references)
}

#[cfg(test)]
mod tests;
