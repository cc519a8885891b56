//! What is known about a cluster while something is previewed, and what has to be read to go on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_effect::{Resource, Target};
use olm_lifecycle::install_plan::execution::Served;
use olm_lifecycle::unpack::UnpackedBundle;
use olm_types::bundle::{CatalogKey, Entry};
use olm_types::gvk::Gvk;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An object by group, kind, namespace (empty for those of the cluster) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for objects of the cluster.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    /// The key of a manifest; none without a kind or a name.
    #[must_use]
    pub fn of(object: &Value) -> Option<Self> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let api = Gvk::from_api_version(text("/apiVersion"), text("/kind"));
        let group = if text("/apiVersion").contains('/') { api.group } else { String::new() };
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let key = Self { group, kind: api.kind, namespace, name };
        (!key.kind.is_empty() && !key.name.is_empty()).then_some(key)
    }

    /// The key of a target.
    #[must_use]
    pub fn of_target(target: &Target) -> Self {
        Self {
            group: target.resource.group.clone(),
            kind: target.resource.kind.clone(),
            namespace: target.namespace.clone().unwrap_or_default(),
            name: target.name.clone(),
        }
    }
}

/// The manifests of a bundle.
#[derive(Clone, Debug)]
pub enum Content {
    /// They were read.
    Read(Arc<UnpackedBundle>),
    /// They could not be read, and why.
    Unknown(String),
}

/// The place of a bundle: its catalog and its name.
pub type BundleKey = (CatalogKey, Arc<str>);

/// The place of an entry's bundle.
#[must_use]
pub fn bundle_key(entry: &Entry) -> BundleKey {
    (entry.catalog.clone(), Arc::clone(&entry.name))
}

/// Something that has to be read before a preview is complete.
#[derive(Clone, Debug)]
pub enum ReadRequest {
    /// One object.
    Object(Target),
    /// Whether and how a kind is served.
    Kind(Gvk),
    /// All objects of a kind.
    Objects(Resource),
    /// The manifests of a bundle.
    Bundle(Arc<Entry>),
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Objects as the API server has them.
    pub objects: BTreeMap<Key, Value>,
    /// Objects that were asked for and are not there.
    pub absent: BTreeSet<Key>,
    /// Kinds that were asked for.
    pub kinds: BTreeMap<Gvk, Served>,
    /// Group and kind of which all objects are known, or why they could not be listed.
    pub listed: BTreeMap<(String, String), Option<String>>,
    /// Group, kind and namespace of which all objects are known.
    pub complete: BTreeSet<(String, String, String)>,
    /// `gitVersion` of the API server.
    pub server_version: Option<String>,
    /// Manifests of bundles.
    pub bundles: BTreeMap<BundleKey, Content>,
    /// Whether what is not among the objects does not exist, as it is with a state from files.
    pub is_everything: bool,
}

impl Known {
    /// Adds an object; one without a kind or a name is passed over.
    pub fn add(&mut self, object: Value) {
        if let Some(key) = Key::of(&object) {
            self.objects.insert(key, object);
        }
    }

    /// The objects of a kind, typed, in the order of their keys; what has another form is left out.
    #[must_use]
    pub fn typed<K: DeserializeOwned>(&self, kind: &str) -> Vec<K> {
        let all = self.objects.iter().filter(|(key, _)| key.kind == kind);
        all.filter_map(|(_, object)| serde_json::from_value(object.clone()).ok()).collect()
    }

    /// Whether an object exists; none when that was not read.
    #[must_use]
    pub fn object(&self, key: &Key) -> Option<Option<&Value>> {
        match self.objects.get(key) {
            Some(object) => Some(Some(object)),
            None if self.is_everything || self.absent.contains(key) => Some(None),
            None if self.is_listed(key) => Some(None),
            None => None,
        }
    }

    /// Whether all objects of its kind are known that are where this one is.
    #[must_use]
    pub fn is_complete(&self, key: &Key) -> bool {
        self.is_everything || self.is_listed(key)
    }

    /// Whether every object that is beside this one was read.
    fn is_listed(&self, key: &Key) -> bool {
        let Key { group, kind, namespace, .. } = key;
        let everywhere = self.listed.get(&(group.clone(), kind.clone()));
        let here = (group.clone(), kind.clone(), namespace.clone());
        everywhere.is_some_and(Option::is_none) || self.complete.contains(&here)
    }

    /// How a kind is served; none when that was not read. With a state from files these are the kinds that
    /// its CRDs define.
    #[must_use]
    pub fn kind(&self, kind: &Gvk) -> Option<Served> {
        let builtin = ["policy", "networking.k8s.io", "scheduling.k8s.io"];
        match self.kinds.get(kind) {
            Some(served) => Some(served.clone()),
            None if self.is_everything && builtin.contains(&kind.group.as_str()) => {
                let plural = plural_of(&kind.kind);
                let resource = Resource::new(&kind.group, &kind.version, &kind.kind, &plural);
                let namespaced = kind.kind != "PriorityClass";
                Some(Served::Kind { resource, namespaced })
            }
            None => self.is_everything.then_some(Served::NoGroup),
        }
    }
}

/// The plural of a kind of Kubernetes itself.
fn plural_of(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if lower.ends_with('s') => lower + "es",
        None => lower + "s",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "n"}}),
        Some(["", "Secret", "n", "a"]))]
    #[case(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}),
        Some(["apps", "Deployment", "", "a"]))]
    #[case(json!({"kind": "Secret"}), None)]
    #[case(json!(5), None)]
    fn an_object_has_a_key(#[case] object: Value, #[case] expected: Option<[&str; 4]>) {
        let found = Key::of(&object);
        let found = found.map(|key| [key.group, key.kind, key.namespace, key.name]);
        assert_eq!(found, expected.map(|parts| parts.map(str::to_owned)));
    }

    #[test]
    fn what_was_not_read_is_unknown_unless_the_state_is_everything() {
        let key = Key {
            group: String::new(),
            kind: "Secret".to_owned(),
            namespace: String::new(),
            name: "s".to_owned(),
        };
        let mut known = Known::default();
        assert_eq!(known.object(&key), None);
        known.absent.insert(key.clone());
        assert_eq!(known.object(&key), Some(None));
        let everything = Known { is_everything: true, ..Known::default() };
        assert_eq!(everything.object(&key), Some(None));
        let budget = Gvk::new("policy", "v1", "PodDisruptionBudget");
        assert!(matches!(everything.kind(&budget), Some(Served::Kind { namespaced: true, .. })));
        assert_eq!(everything.kind(&Gvk::new("x.io", "v1", "X")), Some(Served::NoGroup));
        assert_eq!(plural_of("NetworkPolicy"), "networkpolicies");
    }
}
