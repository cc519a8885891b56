//! A cluster of stores, and reconciles without an API server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::ResourceExt;
use olm_effect::{Action, Effect, Outcome};
use olm_kit::ObjectKey;
use olm_kit::metrics::Metrics;
use olm_kit::watch::Store;
use olm_lifecycle::copied_csv::Prototype;
use olm_lifecycle::csv::stages::{Membership, ProvidedApis, Stage};
use olm_lifecycle::csv::{Decision, Step, conclude, decide_with};
use olm_lifecycle::operator_group::{decide, decide_gone, decide_namespace};
use olm_lifecycle::writes::target_of;
use olm_opgroup::TenantPolicy;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use proptest::prelude::*;
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
use crate::controllers::operator_group::observe::{observe as observe_group, roles};
use crate::dependents::Dependents;
use crate::kept_copy::KeptCopy;
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::queues::Queues;
use crate::stores::Stores;
use crate::triggers::Triggers;

/// Prefix of the labels that groups put on namespaces.
const UID_LABEL: &str = "olm.operatorgroup.uid/";

/// More rounds than a cluster of this size needs to settle.
const ROUNDS: usize = 2_000;

pub(super) struct World {
    triggers: Triggers,
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
                    stores.copies.remove(Some(name), &copy.name);
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
    pub(super) async fn settle(&mut self) {
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

    fn group(&self, key: &ObjectKey) -> Vec<Effect> {
        let stores = &self.triggers.stores;
        match observe_group(stores, key, TenantPolicy::V0) {
            Some(observed) => decide(&observed, Timestamp::UNIX_EPOCH).effects,
            None => {
                let namespace = key.namespace.as_deref().unwrap_or_default();
                decide_gone(namespace, &key.name, &roles(stores, key))
            }
        }
    }

    fn namespace(&self, name: &str) -> Option<Effect> {
        let stores = &self.triggers.stores;
        let groups = stores.groups.list();
        let namespace = stores.namespaces.get(None, name)?;
        decide_namespace(&namespace, groups.iter().map(AsRef::as_ref))
    }

    /// The part of a CSV's pass that is about groups; the rest of it succeeds.
    fn csv(&self, key: &ObjectKey) -> Vec<Effect> {
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
        for due in dues.iter().filter(|due| due.is_out_of_step) {
            let Some(Effect { action: Action::Create(object), .. }) =
                prototype.as_ref().map(|prototype| prototype.create(due.namespace()))
            else {
                continue;
            };
            let csv: ClusterServiceVersion = serde_json::from_value(object).unwrap();
            let mut copy = KeptCopy::from(csv);
            self.version += 1;
            copy.version = self.version.to_string().into();
            copy.uid = copy.version.clone();
            stores.copies.absorb(copy);
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
            Action::MergePatch { patch, .. } => merge(&mut object, patch),
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
        store.absorb(serde_json::from_value(object).unwrap());
    }

    /// What a look at everything would do.
    pub(super) fn fresh_look(&self) -> Vec<String> {
        let stores = &self.triggers.stores;
        let groups = stores.groups.list();
        let groups = groups.iter().flat_map(|it| self.group(&ObjectKey::of(it.as_ref())));
        let namespaces = stores.namespaces.list();
        let namespaces = namespaces.iter().filter_map(|it| self.namespace(&it.name_any()));
        let csvs = stores.csvs.list();
        let csvs = csvs.iter().flat_map(|it| self.csv(&ObjectKey::of(it.as_ref())));
        let all = groups.chain(namespaces).chain(csvs);
        all.map(|effect| format!("{} {:?}", effect.target, effect.action)).collect()
    }

    /// What the groups' status lists.
    pub(super) fn targets(&self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let groups = self.triggers.stores.groups.list();
        let key = |it: &OperatorGroup| (it.namespace().unwrap_or_default(), it.name_any());
        let listed = |it: &OperatorGroup| {
            it.status.iter().flat_map(|status| status.namespaces.clone()).collect()
        };
        groups.iter().map(|group| (key(group), listed(group))).collect()
    }

    /// The groups that each namespace shows, by their names.
    pub(super) fn labels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let groups = self.triggers.stores.groups.list();
        let name = |uid: &str| {
            let found = groups.iter().find(|group| group.uid().as_deref() == Some(uid));
            found.map_or_else(|| format!("{uid} is gone"), |group| key_of(group))
        };
        let shown = |it: &Arc<Namespace>| {
            it.labels().keys().filter_map(|key| key.strip_prefix(UID_LABEL)).map(name).collect()
        };
        let namespaces = self.triggers.stores.namespaces.list();
        namespaces.iter().map(|it| (it.name_any(), shown(it))).collect()
    }

    /// The groups that each namespace should show: those that list it by name.
    pub(super) fn expected_labels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let targets = self.targets();
        let listing = |name: &str| {
            let groups = targets.iter().filter(|(_, listed)| listed.contains(name));
            groups.map(|((namespace, group), _)| format!("{namespace}/{group}")).collect()
        };
        let namespaces = self.triggers.stores.namespaces.list();
        namespaces.iter().map(|it| (it.name_any(), listing(&it.name_any()))).collect()
    }

    /// The ClusterRoles that there are.
    pub(super) fn roles(&self) -> BTreeSet<String> {
        let roles: Vec<Arc<ClusterRole>> = self.triggers.stores.cluster_roles.list();
        roles.iter().map(|role| role.name_any()).collect()
    }

    /// Each copy belongs to a CSV that is there, and each member of a single group that has no
    /// quarrel is copied to all of the group's targets, and nowhere else.
    pub(super) fn check_copies(&self) -> Result<(), TestCaseError> {
        let stores = &self.triggers.stores;
        for copy in stores.copies.list() {
            let origin = stores.csvs.get(Some(&copy.origin), &copy.name);
            prop_assert!(origin.is_some(), "a copy of nothing: {:?}", copy);
        }
        for csv in stores.csvs.list() {
            let home = csv.namespace().unwrap_or_default();
            let groups = stores.groups.list_in(&home);
            let ([group], Some("InstallSucceeded")) = (groups.as_slice(), reason(&csv)) else {
                continue;
            };
            let listed: BTreeSet<String> =
                group.status.iter().flat_map(|status| status.namespaces.clone()).collect();
            if listed.is_empty() {
                continue;
            }
            let targets = stores.namespaces.list().into_iter().map(|it| it.name_any());
            let targets = targets.filter(|it| listed.contains("") || listed.contains(it));
            let expected: BTreeSet<String> = targets.filter(|it| *it != home).collect();
            let name = csv.name_any();
            let copies = stores.copies.list_where(|it| *it.name == *name);
            let found: BTreeSet<String> =
                copies.iter().map(|it| it.namespace.to_string()).collect();
            prop_assert_eq!(found, expected, "copies of {}/{}", home, name);
        }
        Ok(())
    }
}

fn key_of(group: &OperatorGroup) -> String {
    format!("{}/{}", group.namespace().unwrap_or_default(), group.name_any())
}

fn reason(csv: &ClusterServiceVersion) -> Option<&str> {
    csv.status.as_ref().and_then(|status| status.reason.as_deref())
}

/// A merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else { return target.clone_from(patch) };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key.as_str()], value);
        }
    }
}
