//! What a CSV requires and whether it is there (spec olm-operator 2).
//!
//! One file per kind of requirement; each appends its entries to the list in a fixed order, so
//! that equal circumstances give an equal list.

mod alongside;
mod api_services;
mod crds;
mod min_kube_version;
mod native_apis;
mod permissions;

use std::collections::BTreeSet;

use olm_types::api::RequirementStatus;
use olm_types::gvk::Gvk;

use super::observed::Observed;
use super::pass::Request;
use crate::install::{StrategyError, check_apis, check_size, desired_deployment, strategy};

/// The list of requirements and the verdict over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// One entry per requirement, in the order of spec olm-operator 2.
    pub entries: Vec<RequirementStatus>,
    /// Whether all of them are met.
    pub met: bool,
}

/// The answer of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// The requirements.
    Known(Requirements),
    /// The CSV contradicts itself; the text says where.
    Invalid(String),
    /// Something has to be read first.
    Need(Request),
}

/// An entry together with its verdict.
struct RequirementVerdict {
    entry: RequirementStatus,
    met: bool,
}

/// Evaluates all requirements of the observed CSV.
pub(super) fn evaluate(observed: &Observed) -> Evaluation {
    if let Err(error) = check_apis(&observed.csv) {
        return Evaluation::Invalid(error.to_string());
    }
    let unknown = unknown_apis(observed);
    if !unknown.is_empty() {
        return Evaluation::Need(Request::Served(unknown));
    }
    match judge(observed) {
        Ok(judged) => Evaluation::Known(Requirements {
            met: judged.iter().all(|one| one.met),
            entries: judged.into_iter().map(|one| one.entry).collect(),
        }),
        Err(text) => Evaluation::Invalid(text),
    }
}

fn judge(observed: &Observed) -> Result<Vec<RequirementVerdict>, String> {
    check_strategy(observed).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    all.extend(min_kube_version::judge(observed));
    all.extend(crds::judge(observed));
    all.extend(api_services::judge_required(observed));
    all.extend(api_services::judge_owned(observed));
    all.extend(native_apis::judge(observed));
    all.extend(permissions::judge(observed).map_err(|error| error.to_string())?);
    Ok(all)
}

/// Whether every Deployment of the strategy can be built.
fn check_strategy(observed: &Observed) -> Result<(), StrategyError> {
    let entries = &strategy(&observed.csv.spec)?.deployments;
    check_size(&observed.csv, entries, &observed.overrides)?;
    for entry in entries {
        desired_deployment(&observed.csv, entry, &observed.overrides)?;
    }
    Ok(())
}

/// The APIs that must be served and of which that is not known yet.
fn unknown_apis(observed: &Observed) -> BTreeSet<Gvk> {
    let mut wanted = native_apis::wanted(observed);
    wanted.extend(api_services::wanted(observed));
    wanted.retain(|api| !observed.served.contains_key(api));
    wanted
}

/// Whether the API server serves the API.
fn is_served(observed: &Observed, api: &Gvk) -> bool {
    observed.served.get(api) == Some(&true)
}

/// Texts of `status` that users and tools know.
mod outcome {
    pub(super) const PRESENT: &str = "Present";
    pub(super) const NOT_PRESENT: &str = "NotPresent";
    pub(super) const NOT_SATISFIED: &str = "PresentNotSatisfied";
    pub(super) const NOT_AVAILABLE: &str = "PresentNotAvailable";
    pub(super) const DEPLOYMENT_FOUND: &str = "DeploymentFound";
    pub(super) const DEPLOYMENT_NOT_FOUND: &str = "DeploymentNotFound";
}

#[cfg(test)]
mod tests;
