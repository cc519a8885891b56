//! APIs of the cluster itself (spec olm-operator 2.5).

use std::collections::BTreeSet;

use olm_types::api::{NativeApi, RequirementStatus};
use olm_types::gvk::Gvk;

use super::{RequirementVerdict, is_served, outcome};
use crate::csv::observed::Observed;

/// One entry per API, in the order of the CSV.
pub(super) fn judge(observed: &Observed) -> Vec<RequirementVerdict> {
    observed.csv.spec.native_apis.iter().map(|api| judge_one(observed, api)).collect()
}

/// The APIs that must be served.
pub(super) fn wanted(observed: &Observed) -> BTreeSet<Gvk> {
    observed.csv.spec.native_apis.iter().map(gvk).collect()
}

fn gvk(api: &NativeApi) -> Gvk {
    Gvk::new(&api.group, &api.version, &api.kind)
}

fn judge_one(observed: &Observed, api: &NativeApi) -> RequirementVerdict {
    let met = is_served(observed, &gvk(api));
    let (status, message) = match met {
        true => (outcome::PRESENT, "Native API exists"),
        false => (outcome::NOT_PRESENT, "Native API does not exist"),
    };
    let entry = RequirementStatus {
        group: api.group.clone(),
        version: api.version.clone(),
        kind: api.kind.clone(),
        name: format!("{}.{}", api.version, api.group),
        status: status.to_owned(),
        message: message.to_owned(),
        ..RequirementStatus::default()
    };
    RequirementVerdict { entry, met }
}
