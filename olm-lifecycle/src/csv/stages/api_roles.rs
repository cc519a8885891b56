//! Users get roles for the APIs of an operator that runs (spec olm-operator 4.6).

use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_rbac::{Level, api_service_roles, crd_roles};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::gvk::{CrdName, Gvk};
use olm_types::labels::{AGGREGATE_PREFIX, RBAC_AGGREGATE_PREFIX};
use olm_types::owner::is_owned_by_uid;

use super::{Stage, Verdict};
use crate::csv::components::Components;
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::role_writes;

/// Keeps the roles of the APIs that a healthy, succeeded CSV owns.
pub struct ApiRoles;

impl Stage for ApiRoles {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let may_have = observed.phase() == CsvPhase::Succeeded && observed.trust.csv(&observed.csv);
        // Components are looked at last: that takes longest.
        if !may_have || pass.components() != Ok(Components::Healthy) {
            return Verdict::Continue;
        }
        let effects: Vec<_> = wanted(observed)
            .iter()
            .filter_map(|role| {
                let name = role.metadata.name.as_deref().unwrap_or_default();
                let present = observed.cluster_roles.get(name).map(AsRef::as_ref);
                let ours = present.is_none_or(|present| is_of_same_api(role, present));
                ours.then(|| role_writes::cluster_role(role, present)).flatten()
            })
            .collect();
        if effects.is_empty() { Verdict::Continue } else { Verdict::Stop(Decision::act(effects)) }
    }
}

/// Whether a role that has the name was made for the same API: it has the API's label, or its
/// definition as owner. Names are made of what a CSV says, and can be those of any role.
fn is_of_same_api(wanted: &ClusterRole, present: &ClusterRole) -> bool {
    let (wanted, present) = (&wanted.metadata, &present.metadata);
    let labels = |metadata: &ObjectMeta, key: &str| {
        metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(key))
    };
    let mut keys = wanted.labels.iter().flatten().map(|(key, _)| key);
    let mut owners = wanted.owner_references.iter().flatten();
    keys.any(|key| key.starts_with(AGGREGATE_PREFIX) && labels(present, key))
        || owners.any(|owner| is_owned_by_uid(present, &owner.uid))
}

/// Names of the roles that the APIs of `csv` have.
pub fn api_role_names(csv: &ClusterServiceVersion) -> Vec<String> {
    let roles = crd_apis(csv).flat_map(|(name, version, kind)| crd_roles(&name, version, kind, ""));
    let served = service_apis(csv).flat_map(|(name, api)| api_service_roles(name, &api, ""));
    roles.chain(served).filter_map(|role| role.metadata.name).collect()
}

/// The roles of those APIs whose definition exists; without one the requirements say what lacks. The lowest level
/// of all APIs comes first: Kubernetes collects `view` into `edit` and that into `admin`, and writes each of
/// them anew whenever what it holds has grown.
fn wanted(observed: &Observed) -> Vec<ClusterRole> {
    let crds = crd_apis(&observed.csv).filter_map(|(name, version, kind)| {
        let uid = observed.crds.get(&name.to_string())?.metadata.uid.as_deref()?;
        Some(crd_roles(&name, version, kind, uid))
    });
    let services = service_apis(&observed.csv).filter_map(|(resource, api)| {
        let service = format!("{}.{}", api.version, api.group);
        let uid = observed.api_services.get(&service)?.metadata.uid.as_deref()?;
        Some(api_service_roles(resource, &api, uid))
    });
    let mut roles: Vec<ClusterRole> = crds.chain(services).flatten().collect();
    roles.sort_by_cached_key(|role| height(&role.metadata));
    roles
}

/// How far up the level is that a role is collected into.
fn height(role: &ObjectMeta) -> Option<usize> {
    let labels = role.labels.as_ref()?;
    let is_collected =
        |level: Level| labels.contains_key(&format!("{RBAC_AGGREGATE_PREFIX}{}", level.suffix()));
    Level::ALL.into_iter().rev().position(is_collected)
}

fn crd_apis(csv: &ClusterServiceVersion) -> impl Iterator<Item = (CrdName, &str, &str)> {
    let owned = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    owned.filter_map(|crd| {
        Some((CrdName::parse(&crd.name).ok()?, crd.version.as_str(), crd.kind.as_str()))
    })
}

fn service_apis(csv: &ClusterServiceVersion) -> impl Iterator<Item = (&str, Gvk)> {
    let owned = csv.spec.apiservicedefinitions.iter().flat_map(|services| &services.owned);
    owned.map(|api| (api.name.as_str(), Gvk::new(&api.group, &api.version, &api.kind)))
}
