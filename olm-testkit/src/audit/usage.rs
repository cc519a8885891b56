//! What one account asked for, reads included, and whether it may.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::entry::ObjectRef;

/// A kind of request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// What was asked for, as RBAC names it.
    pub verb: String,
    /// The API group; empty for the core.
    pub group: String,
    /// The resource in the plural, with its subresource (`pods/log`).
    pub resource: String,
    /// The namespace; empty for objects of the whole cluster, and for all namespaces.
    pub namespace: String,
    /// The name of the object; empty for collections.
    pub name: String,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, namespace, name } = self;
        write!(f, "{verb} {resource}")?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        write!(f, " {namespace}/{name}")
    }
}

/// What an account asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// What it was allowed to ask for, whatever the answer was.
    pub allowed: BTreeSet<Use>,
    /// What it lacked the right for.
    pub refused: BTreeSet<Use>,
}

impl Usage {
    /// Reads the whole log for the user of this name.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub fn of(user: &str, log: &Path) -> Result<Self> {
        let file = File::open(log).with_context(|| format!("cannot read {}", log.display()))?;
        let mut usage = Self::default();
        for line in BufReader::new(file).lines() {
            let line = line.with_context(|| format!("cannot read {}", log.display()))?;
            if !line.contains(user) {
                continue;
            }
            // The API server may be writing the last line.
            let Ok(entry) = serde_json::from_str::<Entry>(&line) else { continue };
            if entry.user.username == user && !entry.object_ref.resource.is_empty() {
                usage.note(entry);
            }
        }
        Ok(usage)
    }

    /// Adds what was seen elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.allowed.extend(other.allowed);
        self.refused.extend(other.refused);
    }

    fn note(&mut self, entry: Entry) {
        let Entry { verb, object_ref, annotations, .. } = entry;
        let resource = match object_ref.subresource.as_str() {
            "" => object_ref.resource,
            subresource => format!("{}/{subresource}", object_ref.resource),
        };
        let (group, namespace) = (object_ref.api_group, object_ref.namespace);
        let used = Use { verb, group, resource, namespace, name: object_ref.name };
        if annotations.decision == "forbid" {
            self.refused.insert(used);
        } else {
            self.allowed.insert(used);
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    verb: String,
    user: User,
    object_ref: ObjectRef,
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct User {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "authorization.k8s.io/decision")]
    decision: String,
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_account_is_distinguished_from_others_and_what_it_may_from_what_it_lacks() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let line = |user: &str, subresource: &str, decision: &str| {
            json!({
                "verb": "update",
                "user": {"username": user},
                "objectRef": {"apiGroup": "g", "resource": "things", "subresource": subresource,
                    "namespace": "n", "name": "o"},
                "annotations": {"authorization.k8s.io/decision": decision},
            })
        };
        for (user, subresource, decision) in
            [("me", "", "allow"), ("me", "status", "forbid"), ("you", "", "forbid")]
        {
            writeln!(file, "{}", line(user, subresource, decision)).unwrap();
        }
        writeln!(file, "{}", json!({"verb": "get", "user": {"username": "me"}})).unwrap();
        write!(file, "{{\"verb\":").unwrap();
        let usage = Usage::of("me", file.path()).unwrap();
        let said = |uses: &BTreeSet<Use>| uses.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(said(&usage.allowed), ["update things.g n/o"]);
        assert_eq!(said(&usage.refused), ["update things/status.g n/o"]);
    }
}
