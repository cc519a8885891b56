//! A small CustomResourceDefinition.

use serde_json::{Value, json};

/// A kind that some operator provides or needs.
#[derive(Clone, Debug)]
pub struct Crd {
    group: String,
    versions: Vec<String>,
    kind: String,
}

impl Crd {
    /// A namespaced kind; its plural is the lower-case kind with an `s`.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.into(), versions: vec![version.into()], kind: kind.into() }
    }

    /// The same kind with one more version, in which objects are stored from now on. The older
    /// ones stay served.
    #[must_use]
    pub fn and_version(mut self, version: &str) -> Self {
        self.versions.push(version.to_owned());
        self
    }

    /// `plural.group`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural(), self.group)
    }

    /// How a ClusterServiceVersion mentions each version of the kind.
    pub fn descriptions(&self) -> Vec<Value> {
        let name = self.name();
        let of = |version| json!({"name": name, "version": version, "kind": self.kind});
        self.versions.iter().map(of).collect()
    }

    /// How a catalog mentions the kind in its first version.
    pub fn gvk(&self) -> Value {
        self.gvks().into_iter().next().unwrap_or_default()
    }

    /// How a catalog mentions each version of the kind.
    pub fn gvks(&self) -> Vec<Value> {
        let of = |version| json!({"group": self.group, "version": version, "kind": self.kind});
        self.versions.iter().map(of).collect()
    }

    /// The object itself, with a schema that accepts anything.
    pub fn manifest(&self) -> Value {
        let versions: Vec<Value> = self.versions.iter().map(|name| self.version(name)).collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name()},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": {
                    "kind": self.kind,
                    "plural": self.plural(),
                    "singular": self.kind.to_lowercase(),
                    "listKind": format!("{}List", self.kind),
                },
                "versions": versions,
            },
        })
    }

    fn version(&self, name: &str) -> Value {
        json!({
            "name": name,
            "served": true,
            "storage": self.versions.last().is_some_and(|last| last == name),
            "schema": {"openAPIV3Schema": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    }

    fn plural(&self) -> String {
        format!("{}s", self.kind.to_lowercase())
    }
}
