//! Whether a version that is served may be removed.
//!
//! One operator may do with its definition what it likes: its old CSV makes way for its new one.
//! When several operators own a definition, a version may go only after an upgrade that stopped
//! serving it (docs/differences.md).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::ClusterServiceVersion;
use serde_json::Value;

use super::{CrdError, text, versions};

/// A CSV that owns a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrdOwner {
    /// Namespace of the CSV.
    pub namespace: String,
    /// Name of the CSV.
    pub name: String,
    /// Name of the CSV that it replaces; empty if none.
    pub replaces: String,
}

/// The owners of every definition that one of the CSVs owns, by name of the definition. Copies are
/// to be left out.
pub fn owners<C: AsRef<ClusterServiceVersion>>(csvs: &[C]) -> BTreeMap<String, BTreeSet<CrdOwner>> {
    let mut owners: BTreeMap<String, BTreeSet<CrdOwner>> = BTreeMap::new();
    for csv in csvs.iter().map(AsRef::as_ref) {
        let owner = CrdOwner {
            namespace: csv.metadata.namespace.clone().unwrap_or_default(),
            name: csv.metadata.name.clone().unwrap_or_default(),
            replaces: csv.spec.replaces.clone().unwrap_or_default(),
        };
        let owned = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
        for crd in owned {
            owners.entry(crd.name.clone()).or_default().insert(owner.clone());
        }
    }
    owners
}

/// Refuses a removal that would take an API away from another operator.
pub(super) fn check(
    live: &Value,
    desired: &Value,
    owners: &BTreeSet<CrdOwner>,
) -> Result<(), CrdError> {
    let heads = heads(owners);
    let kept = versions::all(desired);
    let mut removed = versions::served(live).into_iter().filter(|version| !kept.contains(version));
    match removed.next().filter(|_| heads.len() > 1) {
        Some(version) => Err(CrdError::ServedVersionRemoved {
            name: text(live, "/metadata/name").to_owned(),
            version: version.to_owned(),
            owners: heads.join(", "),
        }),
        None => Ok(()),
    }
}

/// One CSV for each replacement chain: those that no other one replaces.
fn heads(owners: &BTreeSet<CrdOwner>) -> Vec<String> {
    let is_replaced = |owner: &CrdOwner| {
        let mut others = owners.iter().filter(|other| other.name != owner.name);
        others.any(|other| other.namespace == owner.namespace && other.replaces == owner.name)
    };
    let heads = owners.iter().filter(|owner| !is_replaced(owner));
    heads.map(|owner| format!("{}/{}", owner.namespace, owner.name)).collect()
}
