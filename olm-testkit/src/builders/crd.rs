//! A small CustomResourceDefinition.

use serde_json::{Value, json};

/// A kind that some operator provides or needs.
#[derive(Clone, Debug)]
pub struct Crd {
    group: String,
    version: String,
    kind: String,
}

impl Crd {
    /// A namespaced kind; its plural is the lower-case kind with an `s`.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// `plural.group`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural(), self.group)
    }

    /// How a ClusterServiceVersion mentions the kind.
    pub fn description(&self) -> Value {
        json!({"name": self.name(), "version": self.version, "kind": self.kind})
    }

    /// How a catalog mentions the kind.
    pub fn gvk(&self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }

    /// The object itself, with a schema that accepts anything.
    pub fn manifest(&self) -> Value {
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
                "versions": [{
                    "name": self.version,
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": true,
                    }},
                }],
            },
        })
    }

    fn plural(&self) -> String {
        format!("{}s", self.kind.to_lowercase())
    }
}
