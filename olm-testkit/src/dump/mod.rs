//! Objects for readers and for comparisons.
//!
//! - [`yaml`]: one object as a reader wants to see it;
//! - [`Kinds`]: every object of a cluster that outlives its pods;
//! - [`normalise`], [`Normaliser`]: the same objects without what differs between two runs that did the
//!   same;
//! - [`diff`]: where two such dumps differ.

mod align;
mod diff;
mod kinds;
mod masks;
mod normalise;
mod path;

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::serde::Serialize;
use serde_json::Value;

pub use diff::{Difference, diff, diff_object};
pub use kinds::Kinds;
pub use normalise::{Normaliser, normalise};
pub use path::Path;

/// Objects in normal form.
pub type Dump = BTreeMap<Key, Value>;

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for objects of the whole cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Key {
    /// The key of an object that says its kind.
    pub fn of(object: &Value) -> Self {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        Self {
            kind: text("/kind").to_owned(),
            namespace: text("/metadata/namespace").to_owned(),
            name: text("/metadata/name").to_owned(),
        }
    }
}

impl Key {
    /// `namespace/name`, or the name alone.
    pub fn full_name(&self) -> String {
        match self.namespace.as_str() {
            "" => self.name.clone(),
            namespace => format!("{namespace}/{}", self.name),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.full_name())
    }
}

/// An object as YAML for a reader: everything but `managedFields`.
pub fn yaml<K: Serialize>(object: &K) -> String {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    yaml_serde::to_string(&value).unwrap_or_else(|error| format!("cannot be shown: {error}\n"))
}
