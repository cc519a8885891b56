//! What the steps of one plan share.

use std::collections::{BTreeMap, BTreeSet};

use olm_effect::{Identity, Refusal, Target};
use olm_types::api::ClusterServiceVersion;
use serde_json::Value;

use crate::writes::resource_of;

/// The surroundings of an execution and what it has read so far.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Namespace of the plan.
    pub namespace: String,
    /// Name of the plan.
    pub plan: String,
    /// Namespace of the operator itself, where pull secrets are copied from.
    pub operator_namespace: String,
    /// Who acts (everything but CRD steps).
    pub identity: Identity,
    /// `(namespace, name)` of every CSV that is not a copy.
    pub csvs: BTreeSet<(String, String)>,
    pub(in crate::install_plan) known: BTreeMap<Target, Result<Option<Value>, Refusal>>,
}

impl Scope {
    /// The CSV of that name in the plan's namespace.
    pub fn csv(&self, name: &str) -> Target {
        Target::namespaced(resource_of::<ClusterServiceVersion>(), &self.namespace, name)
    }

    /// Whether `target` has been read or written in this execution.
    pub fn knows(&self, target: &Target) -> bool {
        self.known.contains_key(target)
    }

    /// Records what a read or a creation brought.
    pub fn learn(&mut self, target: Target, found: Result<Option<Value>, Refusal>) {
        self.known.insert(target, found);
    }

    /// The object `target`, or why there is none.
    pub fn object(&self, target: &Target) -> Result<&Value, String> {
        match self.known.get(target) {
            Some(Ok(Some(object))) => Ok(object),
            Some(Err(refusal)) => Err(refusal.message.clone()),
            Some(Ok(None)) | None => Err(not_found(target)),
        }
    }

    /// `uid` of a CSV in the plan's namespace.
    pub fn csv_uid(&self, name: &str) -> Result<String, String> {
        let csv = self.object(&self.csv(name))?;
        let uid =
            csv.pointer("/metadata/uid").and_then(Value::as_str).filter(|uid| !uid.is_empty());
        uid.map(str::to_owned).ok_or_else(|| format!("ClusterServiceVersion {name} has no uid"))
    }
}

/// The text of the API server for an absent object.
fn not_found(target: &Target) -> String {
    let group = if target.resource.group.is_empty() {
        String::new()
    } else {
        format!(".{}", target.resource.group)
    };
    format!("{}{group} \"{}\" not found", target.resource.plural, target.name)
}
