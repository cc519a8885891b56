//! Whether owned APIs can be used (spec olm-operator 3.7, item 4).

use std::collections::BTreeSet;

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_types::conditions::kubernetes::AVAILABLE;
use olm_types::gvk::Gvk;

use crate::certificates::owned_api_services;
use crate::csv::Observed;

/// Whether every owned APIService is available and its kind is served. The second is known only
/// after the caller asked for the [`wanted_apis`].
pub(crate) fn are_available(observed: &Observed) -> bool {
    owned_api_services(&observed.csv).all(|api| {
        let service = observed.api_services.get(&api.api_service_name());
        let kind = Gvk::new(&api.group, &api.version, &api.kind);
        service.is_some_and(|service| is_available(service))
            && observed.served.get(&kind) == Some(&true)
    })
}

/// The kinds of owned APIs that are available and of which it is not known yet whether they are
/// served.
pub(crate) fn wanted_apis(observed: &Observed) -> BTreeSet<Gvk> {
    let available = owned_api_services(&observed.csv).filter(|api| {
        let service = observed.api_services.get(&api.api_service_name());
        service.is_some_and(|service| is_available(service))
    });
    let mut wanted: BTreeSet<Gvk> =
        available.map(|api| Gvk::new(&api.group, &api.version, &api.kind)).collect();
    wanted.retain(|kind| !observed.served.contains_key(kind));
    wanted
}

fn is_available(service: &APIService) -> bool {
    let conditions = service.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|found| found.type_ == AVAILABLE && found.status == "True")
}
