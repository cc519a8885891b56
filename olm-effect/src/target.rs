//! Which object an effect is about.

use std::fmt;

/// A kind of object together with the path segment under which an API server serves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// API version, for example `v1`.
    pub version: String,
    /// Kind, for example `Deployment`.
    pub kind: String,
    /// Plural resource name, for example `deployments`.
    pub plural: String,
}

impl Resource {
    /// A resource from its four parts.
    pub fn new(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        }
    }

    /// `group/version`, or the bare version for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// One object: its resource, its namespace (none for cluster-scoped objects) and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The kind of the object.
    pub resource: Resource,
    /// Namespace of the object; `None` for cluster-scoped objects.
    pub namespace: Option<String>,
    /// Name of the object; empty only for a create with `metadata.generateName`.
    pub name: String,
}

impl Target {
    /// A namespaced object.
    pub fn namespaced(resource: Resource, namespace: &str, name: &str) -> Self {
        Self { resource, namespace: Some(namespace.to_owned()), name: name.to_owned() }
    }

    /// A cluster-scoped object.
    pub fn cluster(resource: Resource, name: &str) -> Self {
        Self { resource, namespace: None, name: name.to_owned() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {}/{}", self.resource.kind, namespace, self.name),
            None => write!(f, "{} {}", self.resource.kind, self.name),
        }
    }
}
