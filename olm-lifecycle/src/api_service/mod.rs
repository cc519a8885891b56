//! API services that an operator serves (spec olm-operator 3.7).
//!
//! An APIService is cluster-scoped and has no owner reference; its labels say which CSV it belongs
//! to, and a CSV takes one over only from a CSV that makes way for it.

mod check;
mod legacy;
mod orphan;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeSet;

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_types::conditions::kubernetes::AVAILABLE;
use olm_types::gvk::Gvk;

use crate::certificates::{ServingCsv, owned_api_services};

pub use check::ResourceErrors;
pub(crate) use check::check_resources;
pub use legacy::legacy;
pub use orphan::{Provided, labelled_owner, orphan};
pub(crate) use write::authority_of;
pub use write::{NotAdoptable, is_adoptable, removed, writes};

/// Whether every owned APIService is available and its kind is served. The second is known only
/// after the caller asked for the [`wanted_apis`].
pub(crate) fn are_available(observed: &ServingCsv<'_>) -> bool {
    owned_api_services(observed.csv).all(|api| {
        let service = observed.api_services.get(&api.api_service_name());
        let kind = Gvk::new(&api.group, &api.version, &api.kind);
        service.is_some_and(|service| is_available(service))
            && observed.served.get(&kind) == Some(&true)
    })
}

/// The kinds of owned APIs that are available and of which it is not known yet whether they are
/// served.
pub(crate) fn wanted_apis(observed: &ServingCsv<'_>) -> BTreeSet<Gvk> {
    let available = owned_api_services(observed.csv).filter(|api| {
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
