//! Names of the things that queues and controllers work on.

use std::fmt;
use std::hash::Hash;

use crate::watch::Cached;

/// What a queue can hold and a controller can log. A key names an object or, for work that is
/// done per namespace, a namespace.
pub trait QueueKey: Clone + Ord + Hash + fmt::Debug + Send + Sync + 'static {
    /// Namespace for the log; empty when the key is cluster-scoped.
    fn namespace(&self) -> &str;

    /// Name for the log; empty when the key names a whole namespace.
    fn name(&self) -> &str;
}

/// Namespace (none for cluster-scoped objects) and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct ObjectKey {
    /// Namespace; `None` for cluster-scoped objects.
    pub namespace: Option<String>,
    /// Name; never empty for an object that an API server stored.
    pub name: String,
}

impl ObjectKey {
    /// Key of a namespaced object.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), name: name.to_owned() }
    }

    /// Key of a cluster-scoped object.
    pub fn cluster(name: &str) -> Self {
        Self { namespace: None, name: name.to_owned() }
    }

    /// Key of `object`.
    pub fn of<K: Cached>(object: &K) -> Self {
        let namespace = object.cached_namespace().map(str::to_owned);
        Self { namespace, name: object.cached_name().to_owned() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl QueueKey for ObjectKey {
    fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// A bare string is the name of a cluster-scoped object or of a namespace.
impl QueueKey for String {
    fn namespace(&self) -> &str {
        ""
    }

    fn name(&self) -> &str {
        self
    }
}

/// Namespace and name.
impl QueueKey for (String, String) {
    fn namespace(&self) -> &str {
        &self.0
    }

    fn name(&self) -> &str {
        &self.1
    }
}
