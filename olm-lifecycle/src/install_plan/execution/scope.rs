//! What the steps of one plan share.

use std::collections::{BTreeMap, BTreeSet};

use olm_effect::{Identity, Refusal, Resource, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::gvk::Gvk;
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

use super::unpacked::UnpackedSteps;
use crate::crd::CrdOwner;
use crate::tenancy::StepTrust;
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
    /// Who acts (everything but CRD steps that are trusted).
    pub identity: Identity,
    /// Which steps OLM's own rights may serve; the others need an account as [`Self::identity`].
    pub trust: StepTrust,
    /// `(namespace, name)` of every CSV that is not a copy, as far as it was known at the start.
    pub csvs: BTreeSet<(String, String)>,
    /// The steps of bundles whose manifests are in ConfigMaps.
    pub(in crate::install_plan) bundles: UnpackedSteps,
    /// Whether no version of a CRD in which objects may be stored is retired.
    pub keeps_stored_versions: bool,
    /// CSVs that own a CRD, by name of the CRD.
    pub crd_owners: BTreeMap<String, BTreeSet<CrdOwner>>,
    /// Names of CRDs that the plan may create and must not change: an administrator's operator owns them.
    pub guarded: BTreeSet<String>,
    /// Names of the CSVs that the plan was made for; those of others are dependencies.
    pub wanted: BTreeSet<String>,
    /// Component labels of the CSVs of the plan, as keys, by name of the CSV.
    pub components: BTreeMap<String, BTreeSet<String>>,
    pub(in crate::install_plan) kinds: BTreeMap<Gvk, Served>,
    pub(in crate::install_plan) known: BTreeMap<Target, Result<Option<Value>, Refusal>>,
}

/// What the API server says about a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// It serves it.
    Kind {
        /// The kind.
        resource: Resource,
        /// Whether its objects live in namespaces.
        namespaced: bool,
    },
    /// It serves the group and version, without the kind.
    NoKind,
    /// It does not serve the group and version.
    NoGroup,
}

impl Scope {
    /// The CSV of that name in the plan's namespace.
    pub fn csv(&self, name: &str) -> Target {
        csv_in(&self.namespace, name)
    }

    /// Whether a CSV that is not a copy exists; nothing if the API server has to be asked. One that
    /// cannot be read counts as existing.
    pub fn csv_exists(&self, namespace: &str, name: &str) -> Option<bool> {
        if self.csvs.contains(&(namespace.to_owned(), name.to_owned())) {
            return Some(true);
        }
        match self.known.get(&csv_in(namespace, name))? {
            Ok(found) => Some(found.as_ref().is_some_and(|csv| !is_copy(csv))),
            Err(_) => Some(true),
        }
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

    /// The owners of a CRD, with the CSV that a step is about, which may not be known as one yet.
    pub fn owners_of(&self, crd: &str, resolving: &str) -> BTreeSet<CrdOwner> {
        let mut owners = self.crd_owners.get(crd).cloned().unwrap_or_default();
        let is_known =
            owners.iter().any(|owner| owner.namespace == self.namespace && owner.name == resolving);
        if !is_known && !resolving.is_empty() {
            let csv = self.object(&self.csv(resolving)).ok();
            let replaces =
                csv.and_then(|csv| csv.pointer("/spec/replaces")).and_then(Value::as_str);
            owners.insert(CrdOwner {
                namespace: self.namespace.clone(),
                name: resolving.to_owned(),
                replaces: replaces.unwrap_or_default().to_owned(),
            });
        }
        owners
    }

    /// `uid` of a CSV in the plan's namespace.
    pub fn csv_uid(&self, name: &str) -> Result<String, String> {
        let csv = self.object(&self.csv(name))?;
        let uid =
            csv.pointer("/metadata/uid").and_then(Value::as_str).filter(|uid| !uid.is_empty());
        uid.map(str::to_owned).ok_or_else(|| format!("ClusterServiceVersion {name} has no uid"))
    }
}

/// The CSV of that name in a namespace.
pub(super) fn csv_in(namespace: &str, name: &str) -> Target {
    Target::namespaced(resource_of::<ClusterServiceVersion>(), namespace, name)
}

fn is_copy(csv: &Value) -> bool {
    csv.pointer("/metadata/labels").is_some_and(|labels| labels.get(COPIED_FROM).is_some())
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
