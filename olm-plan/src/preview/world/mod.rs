//! A cluster in memory that an InstallPlan is executed on: it answers what the execution asks, keeps what it
//! writes, and remembers what was there before.

mod aggregation;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_core::Resource as KubeResource;
use olm_effect::{Refusal, Resource, Target};
use olm_lifecycle::install_plan::execution::{Reply, Request, Served};
use olm_lifecycle::writes::resource_of;
use olm_types::gvk::Gvk;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::known::{BundleKey, Content, Key, Known, ReadRequest};

/// The group of custom resource definitions.
const CRDS: &str = "apiextensions.k8s.io";

/// A cluster in memory.
pub struct World<'a> {
    known: &'a Known,
    /// What was written; none for what was deleted.
    written: BTreeMap<Key, Option<Value>>,
    /// What was there before it was written.
    before: BTreeMap<Key, Option<Value>>,
    /// What Kubernetes alone has written, because of the rest.
    following: BTreeSet<Key>,
    /// What was asked for and is not known. It counts as absent meanwhile.
    pub needs: Vec<ReadRequest>,
    /// Kinds that could not be asked for.
    pub unlisted: Vec<String>,
    /// How often something was written.
    pub writes: usize,
}

impl<'a> World<'a> {
    /// A cluster in which nothing was written yet.
    pub fn new(known: &'a Known) -> Self {
        Self {
            known,
            written: BTreeMap::new(),
            before: BTreeMap::new(),
            following: BTreeSet::new(),
            needs: Vec::new(),
            unlisted: Vec::new(),
            writes: 0,
        }
    }

    /// An object as it is now, as far as it is known.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        match self.written.get(key) {
            Some(written) => written.as_ref(),
            None => self.known.objects.get(key),
        }
    }

    /// The manifests of a bundle, as far as they are known.
    pub fn bundle(&self, key: &BundleKey) -> Option<Content> {
        self.known.bundles.get(key).cloned()
    }

    /// All objects as they are now.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Value)> {
        let untouched =
            self.known.objects.iter().filter(|(key, _)| !self.written.contains_key(key));
        let written = self.written.iter().filter_map(|(key, object)| Some((key, object.as_ref()?)));
        untouched.chain(written)
    }

    /// The objects of a kind, typed; what has another form is left out.
    pub fn typed<K: DeserializeOwned>(&self, kind: &str, namespace: Option<&str>) -> Vec<K> {
        let fits = |key: &Key| {
            key.kind == kind && namespace.is_none_or(|namespace| key.namespace == namespace)
        };
        let mut found: Vec<(&Key, &Value)> = self.objects().filter(|(key, _)| fits(key)).collect();
        found.sort_by_key(|(key, _)| *key);
        found
            .iter()
            .filter_map(|(_, object)| serde_json::from_value((*object).clone()).ok())
            .collect()
    }

    /// Every object that was touched, but by Kubernetes alone: before and after.
    pub fn changes(&self) -> impl Iterator<Item = (&Key, Option<&Value>, Option<&Value>)> {
        let written = self.written.iter().filter(|(key, _)| !self.following.contains(*key));
        written.map(|(key, now)| {
            let before = self.before.get(key).and_then(Option::as_ref);
            (key, before, now.as_ref())
        })
    }

    /// Objects that Kubernetes alone has changed.
    pub fn following(&self) -> impl Iterator<Item = &Key> {
        self.following.iter()
    }

    /// An object as it was before anything was written, as far as it is known.
    pub fn before(&self, key: &Key) -> Option<&Value> {
        match self.before.get(key) {
            Some(before) => before.as_ref(),
            None => self.known.objects.get(key),
        }
    }

    /// What is known about the cluster beside its objects.
    pub fn known(&self) -> &'a Known {
        self.known
    }

    /// All objects of a kind as they are now, typed, in the order of their keys; what has another form is
    /// left out.
    pub fn all<K>(&self, namespace: Option<&str>) -> Vec<Arc<K>>
    where
        K: KubeResource<DynamicType = ()> + DeserializeOwned,
    {
        self.typed(&K::kind(&()), namespace).into_iter().map(Arc::new).collect()
    }

    /// One object as it is now, typed; what is not known is asked for.
    pub fn named<K>(&mut self, namespace: Option<&str>, name: &str) -> Option<Arc<K>>
    where
        K: KubeResource<DynamicType = ()> + DeserializeOwned,
    {
        let resource = resource_of::<K>();
        let target = match namespace {
            Some(namespace) => Target::namespaced(resource, namespace, name),
            None => Target::cluster(resource, name),
        };
        self.live(&target).and_then(|object| serde_json::from_value(object).ok()).map(Arc::new)
    }

    /// One object as it is now; what is not known is asked for.
    pub fn live(&mut self, target: &Target) -> Option<Value> {
        self.read(&Key::of_target(target), || ReadRequest::Object(target.clone()))
    }

    /// Takes an object for what it was before, too: it is no change.
    pub fn assume(&mut self, object: Value) {
        if let Some(key) = Key::of(&object) {
            self.before.insert(key.clone(), Some(object.clone()));
            self.written.insert(key, Some(object));
        }
    }

    /// Writes an object, or deletes it.
    pub fn put(&mut self, key: Key, object: Option<Value>) {
        self.writes += 1;
        let before = self.get(&key).cloned();
        self.before.entry(key.clone()).or_insert(before);
        self.following.remove(&key);
        self.written.insert(key, object);
    }

    /// Deletes an object, and all that only it owns, whatever its finalizers are.
    pub fn delete(&mut self, key: &Key) {
        let Some(object) = self.get(key) else { return };
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
        self.put(key.clone(), None);
        let Some(uid) = uid.filter(|uid| !uid.is_empty()) else { return };
        let dependents: Vec<(Key, Value)> = self
            .objects()
            .filter(|(_, object)| owners(object).iter().any(|owner| owner["uid"] == uid.as_str()))
            .map(|(key, object)| (key.clone(), object.clone()))
            .collect();
        for (key, mut object) in dependents {
            let mut left = owners(&object).to_vec();
            left.retain(|owner| owner["uid"] != uid.as_str());
            if left.is_empty() {
                self.delete(&key);
            } else {
                object["metadata"]["ownerReferences"] = Value::Array(left);
                self.put(key, Some(object));
            }
        }
    }

    /// What an API server would answer.
    pub fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Read(target) => Reply::Live(
                self.read(&Key::of_target(&target), || ReadRequest::Object(target.clone())),
            ),
            Request::Resolve(kind) => Reply::Kind(self.kind(&kind)),
            Request::List(resource, _) => self.list(&resource),
            Request::Do(effect) => Reply::Outcome(self.act(effect), Vec::new()),
        }
    }

    fn read(&mut self, key: &Key, need: impl Fn() -> ReadRequest) -> Option<Value> {
        if let Some(written) = self.written.get(key) {
            return written.clone();
        }
        match self.known.object(key) {
            Some(found) => found.cloned(),
            None => {
                self.needs.push(need());
                None
            }
        }
    }

    /// How a kind is served: as the CRDs say that are there now, or as it was read.
    pub fn kind(&mut self, kind: &Gvk) -> Served {
        let crds = self.objects().filter(|(key, _)| key.group == CRDS);
        let defined = crds.filter_map(|(_, crd)| served_by(crd, kind)).next();
        match defined.or_else(|| self.known.kind(kind)) {
            Some(served) => served,
            None => {
                self.needs.push(ReadRequest::Kind(kind.clone()));
                Served::Kind {
                    resource: Resource::new(&kind.group, &kind.version, &kind.kind, ""),
                    namespaced: true,
                }
            }
        }
    }

    /// Whether a kind came with a CRD that was written here: the cluster has no objects of it.
    fn is_new_kind(&self, resource: &Resource) -> bool {
        let new = self.changes().filter(|(key, before, _)| key.group == CRDS && before.is_none());
        let mut crds = new.filter_map(|(_, _, crd)| crd);
        crds.any(|crd| defines(crd, &resource.group, &resource.kind))
    }

    /// All objects of a kind.
    pub fn list(&mut self, resource: &Resource) -> Reply {
        let place = (resource.group.clone(), resource.kind.clone());
        match self.known.listed.get(&place).filter(|_| !self.is_new_kind(resource)) {
            None if !self.known.is_everything && !self.is_new_kind(resource) => {
                self.needs.push(ReadRequest::Objects(resource.clone()))
            }
            Some(Some(why)) => {
                let (reason, message) = ("Forbidden".to_owned(), why.clone());
                self.unlisted.push(format!("{} ({why})", resource.plural));
                return Reply::Unreadable(Refusal { code: 403, reason, message });
            }
            _ => {}
        }
        let found = self.objects();
        let found = found.filter(|(key, _)| key.group == place.0 && key.kind == place.1);
        Reply::Page(found.map(|(_, object)| object.clone()).collect(), None)
    }
}

/// Whether a CRD defines a kind.
fn defines(crd: &Value, group: &str, kind: &str) -> bool {
    crd["spec"]["group"] == group && crd["spec"]["names"]["kind"] == kind
}

/// The owner references of an object.
pub fn owners(object: &Value) -> &[Value] {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.map(Vec::as_slice).unwrap_or_default()
}

/// How a CRD serves a kind, if it defines it.
fn served_by(crd: &Value, kind: &Gvk) -> Option<Served> {
    let text = |path: &str| crd.pointer(path).and_then(Value::as_str).unwrap_or_default();
    if !defines(crd, &kind.group, &kind.kind) {
        return None;
    }
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let is_served = versions.into_iter().flatten().any(|version| {
        version["name"] == kind.version.as_str() && version["served"] != json!(false)
    });
    if !is_served {
        return Some(Served::NoKind);
    }
    let plural = text("/spec/names/plural");
    let resource = Resource::new(&kind.group, &kind.version, &kind.kind, plural);
    Some(Served::Kind { resource, namespaced: text("/spec/scope") != "Cluster" })
}

#[cfg(test)]
mod tests {
    use olm_effect::{Effect, Outcome, Target};

    use super::*;

    fn object(name: &str, uid: &str, owners: &[&str]) -> Value {
        let owners: Vec<Value> = owners.iter().map(|uid| json!({ "uid": uid })).collect();
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": name, "namespace": "ns", "uid": uid, "ownerReferences": owners}})
    }

    fn target(name: &str) -> Target {
        Target::namespaced(Resource::new("", "v1", "Secret", "secrets"), "ns", name)
    }

    #[test]
    fn what_only_a_deleted_object_owns_goes_with_it() {
        let mut known = Known { is_everything: true, ..Known::default() };
        known.add(object("a", "1", &[]));
        known.add(object("b", "2", &["1"]));
        known.add(object("c", "3", &["2"]));
        known.add(object("d", "4", &["1", "9"]));
        let mut world = World::new(&known);
        world.delete(&Key::of_target(&target("a")));
        let left: Vec<&str> = world.objects().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(left, ["d"]);
        assert_eq!(world.changes().count(), 4);
    }

    #[test]
    fn what_is_unknown_is_asked_for_and_counts_as_absent() {
        let known = Known::default();
        let mut world = World::new(&known);
        let create = Effect::create(target("a"), object("a", "", &[]));
        let reply = world.answer(Request::Do(create.clone()));
        assert!(matches!(reply, Reply::Outcome(Outcome::Created(_), _)));
        assert!(matches!(world.needs.as_slice(), [ReadRequest::Object(_)]));
        let reply = world.answer(Request::Do(create));
        assert!(matches!(reply, Reply::Outcome(Outcome::AlreadyExists, _)));
        assert_eq!(world.needs.len(), 1);
    }

    /// An upgrade follows the installation whose CRD it changes: the cluster has no such kind yet.
    #[test]
    fn objects_of_a_kind_that_is_new_are_not_asked_for() {
        let mut known = Known::default();
        let kind = Resource::new("x.io", "v1", "Kettle", "kettles");
        let place = ("x.io".to_owned(), "Kettle".to_owned());
        let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "kettles.x.io"}, "spec": {"group": "x.io", "names": {"kind": "Kettle"}}});
        known.listed.insert(place, Some("the cluster has no such kind".to_owned()));
        let mut world = World::new(&known);
        assert!(matches!(world.list(&kind), Reply::Unreadable(_)));
        world.create(crd);
        assert!(matches!(world.list(&kind), Reply::Page(found, None) if found.is_empty()));
        let known = Known::default();
        let mut world = World::new(&known);
        world.list(&kind);
        assert_eq!(world.needs.len(), 1, "of a kind that is there");
    }

    #[test]
    fn a_patch_that_changes_nothing_is_no_change() {
        let mut known = Known { is_everything: true, ..Known::default() };
        known.add(json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "1"},
            "metadata": {"name": "a", "namespace": "ns"}}));
        let mut world = World::new(&known);
        let patch = |patch: Value| Request::Do(Effect::merge(target("a"), patch, None));
        let same = world.answer(patch(json!({"data": {"a": "1"}})));
        assert!(matches!(same, Reply::Outcome(Outcome::Unchanged, _)));
        assert_eq!(world.changes().count(), 0);
        let other = world.answer(patch(json!({"data": {"a": null, "b": "2"}})));
        let Reply::Outcome(Outcome::Changed(now), _) = other else { panic!("{other:?}") };
        assert_eq!(now["data"], json!({"b": "2"}));
    }
}
