//! Required and owned API services (spec olm-operator 2.3, 2.4).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_types::api::{ApiServiceDescription, RequirementStatus};
use olm_types::conditions::kubernetes::AVAILABLE;
use olm_types::gvk::Gvk;

use super::{RequirementVerdict, is_served, outcome};
use crate::csv::observed::Observed;

/// One entry per API service that is required and not owned, sorted by name.
pub(super) fn judge_required(observed: &Observed) -> Vec<RequirementVerdict> {
    required(observed).into_iter().map(|(name, api)| judge_one(observed, name, api)).collect()
}

/// One entry per owned API service, sorted by name: is there a Deployment that serves it?
pub(super) fn judge_owned(observed: &Observed) -> Vec<RequirementVerdict> {
    let strategy = observed.csv.spec.install.spec.as_ref();
    let deployments: BTreeSet<&str> = strategy
        .iter()
        .flat_map(|strategy| &strategy.deployments)
        .map(|entry| entry.name.as_str())
        .collect();
    let found = |api: &ApiServiceDescription| {
        api.deployment_name.as_deref().is_some_and(|name| deployments.contains(name))
    };
    owned(observed)
        .into_iter()
        .map(|(name, api)| match found(api) {
            true => judged(name, outcome::DEPLOYMENT_FOUND, None, true),
            false => judged(name, outcome::DEPLOYMENT_NOT_FOUND, None, false),
        })
        .collect()
}

/// The required APIs, which must be served.
pub(super) fn wanted(observed: &Observed) -> BTreeSet<Gvk> {
    required(observed).into_values().map(gvk).collect()
}

fn gvk(api: &ApiServiceDescription) -> Gvk {
    Gvk::new(&api.group, &api.version, &api.kind)
}

type ByName<'a> = BTreeMap<String, &'a ApiServiceDescription>;

fn required(observed: &Observed) -> ByName<'_> {
    let owned = owned(observed);
    let definitions = observed.csv.spec.apiservicedefinitions.iter();
    let mut required = by_name(definitions.flat_map(|definitions| &definitions.required));
    required.retain(|name, _| !owned.contains_key(name));
    required
}

fn owned(observed: &Observed) -> ByName<'_> {
    let definitions = observed.csv.spec.apiservicedefinitions.iter();
    by_name(definitions.flat_map(|definitions| &definitions.owned))
}

fn by_name<'a>(apis: impl Iterator<Item = &'a ApiServiceDescription>) -> ByName<'a> {
    apis.map(|api| (api.api_service_name(), api)).collect()
}

fn judge_one(observed: &Observed, name: String, api: &ApiServiceDescription) -> RequirementVerdict {
    let served = is_served(observed, &gvk(api));
    match observed.api_services.get(&name).filter(|found| served && is_available(found)) {
        Some(found) => judged(name, outcome::PRESENT, found.metadata.uid.clone(), true),
        None => judged(name, outcome::NOT_PRESENT, None, false),
    }
}

fn is_available(service: &APIService) -> bool {
    let conditions = service.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|found| found.type_ == AVAILABLE && found.status == "True")
}

fn judged(name: String, status: &str, uuid: Option<String>, met: bool) -> RequirementVerdict {
    let entry = RequirementStatus {
        group: "apiregistration.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "APIService".to_owned(),
        name,
        status: status.to_owned(),
        uuid,
        ..RequirementStatus::default()
    };
    RequirementVerdict { entry, met }
}
