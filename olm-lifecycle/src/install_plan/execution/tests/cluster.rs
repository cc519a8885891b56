//! A model of an API server, as far as executing steps needs one.

use std::collections::BTreeMap;

use olm_effect::{Action, Effect, Outcome, Refusal, Resource, apply_merge_patch};
use olm_types::gvk::Gvk;
use serde_json::{Value, json};

use super::super::{Reply, Request, Served};

/// Objects by kind, namespace and name.
#[derive(Default)]
pub(super) struct Cluster {
    pub(super) objects: BTreeMap<(String, Option<String>, String), Value>,
    /// How many effects wrote.
    pub(super) writes: usize,
    /// A kind that may not be created.
    pub(super) refuse: Option<&'static str>,
    /// How many replacements meet a conflict.
    pub(super) conflicts: usize,
    /// What a write of an object of that kind warns of.
    pub(super) warns: Option<(&'static str, &'static str)>,
    /// A kind whose objects begin to be deleted once they were read.
    pub(super) deletes_after_read: Option<&'static str>,
    /// A kind whose objects go before they are read, once.
    pub(super) goes_before_read: Option<&'static str>,
    /// Groups that are not served.
    pub(super) absent: Vec<&'static str>,
}

impl Cluster {
    pub(super) fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Read(target) => {
                Reply::Live(self.read((target.resource.kind, target.namespace, target.name)))
            }
            Request::Do(effect) => {
                let warns = self.warns.filter(|(kind, _)| *kind == effect.target.resource.kind);
                let warnings = warns.map(|(_, text)| text.to_owned()).into_iter().collect();
                Reply::Outcome(self.execute(effect), warnings)
            }
            Request::Resolve(kind) => Reply::Kind(self.resolve(&kind)),
            Request::List(resource, _) => Reply::Page(self.list(&resource), None),
        }
    }

    fn read(&mut self, key: (String, Option<String>, String)) -> Option<Value> {
        if self.goes_before_read.take_if(|kind| *kind == key.0).is_some() {
            self.objects.remove(&key);
        }
        let found = self.objects.get(&key).cloned();
        if let Some(object) =
            self.objects.get_mut(&key).filter(|_| self.deletes_after_read == Some(key.0.as_str()))
        {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!(["example.com/held"]);
        }
        found
    }

    fn resolve(&self, kind: &Gvk) -> Served {
        let group = kind.group.as_str();
        if self.absent.contains(&group) || group.ends_with(".gone") || kind.version == "v1beta1" {
            return Served::NoGroup;
        }
        if kind.kind == "Tree" {
            return Served::NoKind;
        }
        let plural = format!("{}s", kind.kind.to_lowercase());
        let resource = Resource::new(&kind.group, &kind.version, &kind.kind, &plural);
        Served::Kind { resource, namespaced: kind.kind != "PriorityClass" }
    }

    fn list(&self, resource: &Resource) -> Vec<Value> {
        let all = self.objects.iter().filter(|(key, _)| key.0 == resource.kind);
        all.map(|(_, object)| object.clone()).collect()
    }

    /// The object of that kind and name in namespace `ns` or at cluster scope.
    pub(super) fn get(&self, kind: &str, name: &str) -> &Value {
        self.objects.iter().find(|(key, _)| is(key, kind, name)).map(|(_, object)| object).unwrap()
    }

    pub(super) fn put(&mut self, kind: &str, namespace: Option<&str>, name: &str, object: Value) {
        self.objects
            .insert((kind.to_owned(), namespace.map(str::to_owned), name.to_owned()), object);
    }

    pub(super) fn change(&mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        change(
            self.objects
                .iter_mut()
                .find(|(key, _)| is(key, kind, name))
                .map(|(_, object)| object)
                .unwrap(),
        );
    }

    fn execute(&mut self, effect: Effect) -> Outcome {
        let kind = effect.target.resource.kind.clone();
        let key = (kind.clone(), effect.target.namespace.clone(), effect.target.name.clone());
        match effect.action {
            Action::Create(_) if self.refuse == Some(kind.as_str()) => {
                Outcome::Refused(refusal(403, "no rights"))
            }
            Action::Create(_) if self.absent.contains(&effect.target.resource.group.as_str()) => {
                Outcome::Refused(refusal(404, "the server could not find the requested resource"))
            }
            Action::Create(object) if self.has_address(&object) => {
                Outcome::Refused(refusal(422, "provided IP is already allocated"))
            }
            Action::Create(_) if self.objects.contains_key(&key) => Outcome::AlreadyExists,
            Action::Create(mut object) => {
                object["metadata"]["uid"] = json!(format!("uid-{}", effect.target.name));
                self.write(key, object.clone());
                Outcome::Created(object)
            }
            Action::Replace { .. } if self.conflicts > 0 => {
                self.conflicts -= 1;
                Outcome::Refused(refusal(409, "changed"))
            }
            Action::Replace { object, .. } => {
                self.write(key, object.clone());
                Outcome::Changed(object)
            }
            Action::MergePatch { patch, .. } => {
                let mut object = self.objects.get(&key).cloned().unwrap();
                apply_merge_patch(&mut object, &patch);
                self.write(key, object.clone());
                Outcome::Changed(object)
            }
            other => panic!("unexpected {other:?}"),
        }
    }

    /// Whether a Service has the address that the object asks for; asked before names are looked at.
    fn has_address(&self, object: &Value) -> bool {
        let address = |object: &Value| object.pointer("/spec/clusterIP").cloned();
        let wanted = address(object);
        wanted.is_some() && self.objects.values().any(|live| address(live) == wanted)
    }

    fn write(&mut self, key: (String, Option<String>, String), object: Value) {
        self.writes += 1;
        self.objects.insert(key, object);
    }
}

fn is(key: &(String, Option<String>, String), kind: &str, name: &str) -> bool {
    key.0 == kind && key.2 == name && key.1.as_deref().is_none_or(|namespace| namespace == "ns")
}

fn refusal(code: u16, message: &str) -> Refusal {
    Refusal { code, reason: String::new(), message: message.to_owned() }
}
