//! A cluster of stores, and reconciles without an API server.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kube::ResourceExt;
use olm_effect::{Action, Effect, Outcome, apply_merge_patch};
use olm_kit::ObjectKey;
use olm_kit::metrics::Metrics;
use olm_kit::watch::Store;
use olm_lifecycle::copied_csv::Prototype;
use olm_lifecycle::csv::stages::{Membership, ProvidedApis, Stage};
use olm_lifecycle::csv::{Decision, Step, conclude, decide_with};
use olm_lifecycle::operator_group::{decide, decide_gone, decide_namespace};
use olm_lifecycle::writes::target_of;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Event;
use crate::changes::Changes;
use crate::components::ComponentIndex;
use crate::controllers::copied_csv::CopyKey;
use crate::controllers::copied_csv::observe::observe as observe_copies;
use crate::controllers::copied_csv::targets::due;
use crate::controllers::csv::observe::observe as observe_csv;
use crate::controllers::operator_group::{observe as observe_group, roles};
use crate::dependents::Dependents;
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::queues::Queues;
use crate::stored_copy::StoredCopy;
use crate::stores::Stores;
use crate::triggers::Triggers;

/// More rounds than a cluster of this size needs to converge.
const ROUNDS: usize = 2_000;

pub(super) struct World {
    pub(super) triggers: Triggers,
    version: u64,
}

impl World {
    pub(super) fn new() -> Self {
        let triggers = Triggers {
            stores: Stores::default(),
            queues: Queues::new(None),
            dependents: Dependents::default(),
            changes: Changes::default(),
            metrics: CsvMetrics::register(&Metrics::new().unwrap()).unwrap(),
            originals: Originals::default(),
            components: ComponentIndex::default(),
        };
        triggers.listen();
        Self { triggers, version: 0 }
    }

    /// Does what a user does.
    pub(super) fn happen(&mut self, event: &Event) {
        let stores = self.triggers.stores.clone();
        match event {
            Event::Namespace(name, env) => {
                let labels = stores.namespaces.get(None, name).map(|it| it.labels().clone());
                let mut labels = labels.unwrap_or_default();
                labels.remove("env");
                labels.extend(env.map(|env| ("env".to_owned(), env.to_owned())));
                self.put(&stores.namespaces, json!({"metadata": {"name": name, "labels": labels}}));
            }
            Event::NoNamespace(name) => {
                stores.namespaces.remove(None, name);
                for copy in stores.copies.list_in(name) {
                    stores.copies.remove(Some(name), copy.name());
                }
            }
            Event::Group((namespace, name), spec) => {
                let present = stores.groups.get(Some(namespace), name);
                let mut group = present.map_or(Value::Null, |group| json!(*group));
                group["metadata"]["namespace"] = json!(namespace);
                group["metadata"]["name"] = json!(name);
                group["spec"] = spec.clone();
                self.put(&stores.groups, group);
            }
            Event::NoGroup((namespace, name)) => stores.groups.remove(Some(namespace), name),
            Event::Csv(csv) => self.put_csv(*csv),
            Event::NoCsv((namespace, name, _)) => stores.csvs.remove(Some(namespace), name),
        }
    }

    fn put_csv(&mut self, (namespace, name, kind): (&str, &str, &str)) {
        let csvs = self.triggers.stores.csvs.clone();
        if csvs.get(Some(namespace), name).is_some() {
            return;
        }
        let modes = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
        let modes = modes.map(|mode| json!({"type": mode, "supported": true}));
        let owned = json!([{"name": format!("{kind}s.g"), "version": "v1", "kind": kind}]);
        self.put(
            &csvs,
            json!({
                "metadata": {"name": name, "namespace": namespace},
                "spec": {
                    "displayName": name, "installModes": modes,
                    "customresourcedefinitions": {"owned": owned},
                },
                "status": {"phase": "Succeeded", "reason": "InstallSucceeded"},
            }),
        );
    }

    /// Looks at everything that is due until nothing is.
    pub(super) async fn converge(&mut self) {
        for _ in 0..ROUNDS {
            let queues = self.triggers.queues.clone();
            if !queues.groups.is_empty() {
                let key = queues.groups.next().await;
                let effects = self.group(&key);
                effects.iter().for_each(|effect| self.execute(effect));
                queues.groups.done(&key);
            } else if !queues.namespaces.is_empty() {
                let name = queues.namespaces.next().await;
                let effect = self.namespace(&name);
                effect.iter().for_each(|effect| self.execute(effect));
                queues.namespaces.done(&name);
            } else if !queues.csvs.is_empty() {
                let key = queues.csvs.next().await;
                let effects = self.csv(&key);
                effects.iter().for_each(|effect| self.execute(effect));
                queues.csvs.done(&key);
            } else if !queues.copies.is_empty() {
                let key = queues.copies.next().await;
                self.bring_copies(&key);
                queues.copies.done(&key);
            } else {
                return;
            }
        }
        panic!("there is no end of work");
    }

    pub(super) fn group(&self, key: &ObjectKey) -> Vec<Effect> {
        let stores = &self.triggers.stores;
        match observe_group(stores, key) {
            Some(observed) => decide(&observed, Timestamp::UNIX_EPOCH).effects,
            None => {
                let namespace = key.namespace.as_deref().unwrap_or_default();
                decide_gone(namespace, &key.name, &roles(stores, key))
            }
        }
    }

    pub(super) fn namespace(&self, name: &str) -> Option<Effect> {
        let stores = &self.triggers.stores;
        let groups = stores.groups.list();
        let namespace = stores.namespaces.get(None, name)?;
        decide_namespace(&namespace, groups.iter().map(AsRef::as_ref), &stores.live_namespaces())
    }

    /// The part of a CSV's pass that is about groups; the rest of it succeeds.
    pub(super) fn csv(&self, key: &ObjectKey) -> Vec<Effect> {
        let Some(observed) = observe_csv(&self.triggers.stores, key) else { return Vec::new() };
        let now = Timestamp::UNIX_EPOCH;
        let stages: [&dyn Stage; 2] = [&Membership, &ProvidedApis];
        let Step::Decided(decision) = decide_with(&stages, &observed, now) else {
            return Vec::new();
        };
        if decision == Decision::nothing() && observed.phase() == CsvPhase::Failed {
            let status = json!({"status": {"phase": "Succeeded", "reason": "InstallSucceeded"}});
            return vec![Effect::status(target_of(observed.csv.as_ref()), status, None)];
        }
        let outcomes: Vec<_> = decision.effects.iter().map(|_| Outcome::Unchanged).collect();
        let conclusion = conclude(&observed, &decision, &outcomes, now);
        decision.effects.into_iter().chain(conclusion.effects).collect()
    }

    fn bring_copies(&mut self, key: &CopyKey) {
        let stores = self.triggers.stores.clone();
        let origin = stores.csvs.get_key(&key.origin);
        let prototype = origin.as_deref().map(Prototype::of);
        let known = prototype.as_ref().map(Prototype::fingerprint);
        let observed = observe_copies(&stores, &BTreeSet::new(), key);
        let (going, dues) = due(key, &observed, known);
        for place in going {
            stores.copies.remove(Some(&place.namespace), &key.origin.name);
        }
        for due in dues.iter().filter(|due| due.lack.is_some()) {
            let Some(Effect { action: Action::Create(object), .. }) =
                prototype.as_ref().map(|prototype| prototype.create(due.namespace()))
            else {
                continue;
            };
            let mut csv: ClusterServiceVersion = serde_json::from_value(object).unwrap();
            self.version += 1;
            csv.metadata.resource_version = Some(self.version.to_string());
            csv.metadata.uid = Some(self.version.to_string());
            stores.copies.insert_written(StoredCopy::from(csv));
        }
    }

    fn execute(&mut self, effect: &Effect) {
        let stores = self.triggers.stores.clone();
        match effect.target.resource.kind.as_str() {
            "OperatorGroup" => self.change(&stores.groups, effect),
            "Namespace" => self.change(&stores.namespaces, effect),
            "ClusterServiceVersion" => self.change(&stores.csvs, effect),
            "ClusterRole" => self.change(&stores.cluster_roles, effect),
            other => assert!(matches!(effect.action, Action::Event(_)), "a write of a {other}"),
        }
    }

    fn change<K>(&mut self, store: &Store<K>, effect: &Effect)
    where
        K: kube::Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone,
    {
        let target = &effect.target;
        let present = store.get(target.namespace.as_deref(), &target.name);
        let mut object = present.map_or(Value::Null, |object| json!(*object));
        match &effect.action {
            Action::Create(object) => return self.put(store, object.clone()),
            Action::Delete { .. } => {
                return store.remove(target.namespace.as_deref(), &target.name);
            }
            Action::Status { object: wanted, .. } => object["status"] = wanted["status"].clone(),
            Action::MergePatch { patch, .. } => apply_merge_patch(&mut object, patch),
            Action::Event(_) => return,
            other => panic!("{other:?}"),
        }
        self.put(store, object);
    }

    /// Adds or replaces an object, with a new resourceVersion.
    fn put<K>(&mut self, store: &Store<K>, mut object: Value)
    where
        K: kube::Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.version += 1;
        let metadata = &mut object["metadata"];
        let (namespace, name) = (metadata["namespace"].as_str(), metadata["name"].as_str());
        let present = store.get(namespace, name.unwrap_or_default());
        let uid = present.and_then(|present| present.meta().uid.clone());
        metadata["uid"] = json!(uid.unwrap_or_else(|| format!("u{}", self.version)));
        metadata["resourceVersion"] = json!(self.version.to_string());
        store.insert_written(serde_json::from_value(object).unwrap());
    }
}
