//! What an API server and the controllers of Kubernetes make of a write: names, versions, finalizers, and the
//! status of what is taken to work.

use olm_effect::{Action, Effect, Outcome, apply_merge_patch};
use serde_json::{Value, json};

use super::World;
use crate::preview::known::{Key, ReadRequest};

/// What stands for the part of a name that an API server makes up.
const MADE_UP: &str = "*";

/// When something is deleted in a cluster in memory. Times are not shown.
const THEN: &str = "2000-01-01T00:00:00Z";

impl World<'_> {
    /// Writes an object that a manifest describes, with what an API server adds.
    pub fn create(&mut self, mut object: Value) -> Value {
        self.writes += 1;
        let number = self.writes;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), json!(format!("preview-{number}")));
            metadata.insert("resourceVersion".to_owned(), json!(number.to_string()));
            metadata.insert("generation".to_owned(), json!(1));
        }
        works(&mut object);
        if let Some(key) = Key::of(&object) {
            self.put(key, Some(object.clone()));
        }
        object
    }

    /// Executes effects in their order.
    pub fn execute(&mut self, effects: &[Effect]) -> Vec<Outcome> {
        effects.iter().map(|effect| self.act(effect.clone())).collect()
    }

    /// Executes one effect.
    pub(super) fn act(&mut self, effect: Effect) -> Outcome {
        let target = effect.target.clone();
        if target.name.is_empty() {
            return self.create_with_a_made_up_name(effect);
        }
        if matches!(effect.action, Action::Event(_)) {
            return Outcome::Unchanged;
        }
        let key = Key::of_target(&target);
        let live = self.read(&key, || ReadRequest::Object(target.clone()));
        match (effect.action, live) {
            (Action::Create(_), Some(_)) => Outcome::AlreadyExists,
            (Action::Create(mut object) | Action::Apply { mut object, .. }, None) => {
                place(&mut object, &key);
                Outcome::Created(self.create(object))
            }
            (Action::Delete { .. }, None) => Outcome::Deleted,
            (Action::Delete { .. }, Some(live)) => {
                self.begin_deletion(&key, live);
                Outcome::Deleted
            }
            (_, None) => Outcome::NotFound,
            (Action::Replace { mut object, .. }, Some(live)) => {
                place(&mut object, &key);
                keep(&mut object, &live);
                self.change(key, &live, object)
            }
            (
                Action::MergePatch { patch, .. }
                | Action::StrategicPatch { patch, .. }
                | Action::Apply { object: patch, .. },
                Some(live),
            ) => {
                let mut object = live.clone();
                apply_merge_patch(&mut object, &patch);
                if let Some(version) = live.pointer("/metadata/resourceVersion") {
                    object["metadata"]["resourceVersion"] = version.clone();
                }
                self.change(key, &live, object)
            }
            (Action::Status { object: written, .. }, Some(live)) => {
                let mut object = live.clone();
                object["status"] = written["status"].clone();
                self.change(key, &live, object)
            }
            (Action::Event(_), Some(_)) => Outcome::Unchanged,
        }
    }

    /// The name is that of the object, and what the API server adds is shown by one character. Of several
    /// objects each gets one more.
    fn create_with_a_made_up_name(&mut self, effect: Effect) -> Outcome {
        let Action::Create(mut object) = effect.action else { return Outcome::NotFound };
        let start = object.pointer("/metadata/generateName").and_then(Value::as_str);
        let start = start.unwrap_or_default().to_owned();
        let mut key = Key::of_target(&effect.target);
        key.name = start + MADE_UP;
        while self.get(&key).is_some() {
            key.name.push_str(MADE_UP);
        }
        place(&mut object, &key);
        Outcome::Created(self.create(object))
    }

    fn begin_deletion(&mut self, key: &Key, mut live: Value) {
        let finalizers = live.pointer("/metadata/finalizers").and_then(Value::as_array);
        if finalizers.is_none_or(Vec::is_empty) {
            return self.delete(key);
        }
        if live["metadata"]["deletionTimestamp"].is_null() {
            live["metadata"]["deletionTimestamp"] = json!(THEN);
            self.put(key.clone(), Some(live));
        }
    }

    fn change(&mut self, key: Key, live: &Value, mut object: Value) -> Outcome {
        if *live == object {
            return Outcome::Unchanged;
        }
        let metadata = &object["metadata"];
        let finalizers = metadata["finalizers"].as_array();
        if !metadata["deletionTimestamp"].is_null() && finalizers.is_none_or(Vec::is_empty) {
            self.delete(&key);
            return Outcome::Changed(object);
        }
        let is_new = live["spec"] != object["spec"];
        let generation = live["metadata"]["generation"].as_u64().unwrap_or(1);
        object["metadata"]["generation"] = json!(generation + u64::from(is_new));
        object["metadata"]["resourceVersion"] = json!((self.writes + 1).to_string());
        if is_new {
            works(&mut object);
        }
        self.put(key, Some(object.clone()));
        Outcome::Changed(object)
    }
}

/// The status of an object that others than OLM bring up. A preview takes it to work.
fn works(object: &mut Value) {
    let condition =
        |type_: &str| json!({"type": type_, "status": "True", "lastTransitionTime": THEN});
    match object["kind"].as_str().unwrap_or_default() {
        "Deployment" => {
            let replicas = object.pointer("/spec/replicas").cloned().unwrap_or(json!(1));
            object["status"] = json!({
                "observedGeneration": object["metadata"]["generation"],
                "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas,
                "availableReplicas": replicas,
                "conditions": [condition("Available"), condition("Progressing")],
            });
        }
        "CustomResourceDefinition" => {
            let versions = object.pointer("/spec/versions").and_then(Value::as_array);
            let stored = versions.into_iter().flatten().filter(|one| one["storage"] == true);
            let stored: Vec<Value> = stored.map(|one| one["name"].clone()).collect();
            let known = object.pointer("/status/storedVersions").and_then(Value::as_array).cloned();
            let mut all = known.unwrap_or_default();
            all.extend(stored.into_iter().filter(|one| !all.contains(one)).collect::<Vec<_>>());
            object["status"] = json!({
                "acceptedNames": object["spec"]["names"], "storedVersions": all,
                "conditions": [condition("NamesAccepted"), condition("Established")],
            });
        }
        "APIService" => object["status"] = json!({"conditions": [condition("Available")]}),
        _ => {}
    }
}

/// Says in a manifest where its object is.
fn place(object: &mut Value, key: &Key) {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    if !key.namespace.is_empty() {
        object["metadata"]["namespace"] = json!(key.namespace);
    }
    object["metadata"]["name"] = json!(key.name);
}

/// What a replacement does not change: identity, and the status of a kind that has one.
fn keep(object: &mut Value, live: &Value) {
    for field in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
        if let Some(value) = live.pointer("/metadata").and_then(|metadata| metadata.get(field)) {
            object["metadata"][field] = value.clone();
        }
    }
    if let Some(status) = live.get("status") {
        object["status"] = status.clone();
    }
}
