//! Owned and required CustomResourceDefinitions (spec olm-operator 2.2).

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use olm_types::api::{CrdDescription, RequirementStatus};
use olm_types::conditions::kubernetes as conditions;

use super::alongside::ancestors_alongside;
use super::{RequirementVerdict, outcome};
use crate::csv::observed::Observed;

/// One entry per definition, sorted by name; the owned description of a name wins.
pub(super) fn judge(observed: &Observed) -> Vec<RequirementVerdict> {
    let Some(crds) = &observed.csv.spec.customresourcedefinitions else { return Vec::new() };
    let required = crds.required.iter().map(|description| (description, false));
    let owned = crds.owned.iter().map(|description| (description, true));
    let by_name: BTreeMap<&str, (&CrdDescription, bool)> =
        required.chain(owned).map(|entry| (entry.0.name.as_str(), entry)).collect();
    by_name
        .into_values()
        .map(|(description, is_owned)| judge_one(observed, description, is_owned))
        .collect()
}

fn judge_one(
    observed: &Observed,
    description: &CrdDescription,
    is_owned: bool,
) -> RequirementVerdict {
    let (status, message, uuid) = match observed.crds.get(&description.name) {
        None => (outcome::NOT_PRESENT, "CRD is not present".to_owned(), None),
        Some(crd) => look_at(observed, crd, description, is_owned),
    };
    let entry = RequirementStatus {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        name: description.name.clone(),
        status: status.to_owned(),
        message,
        uuid,
        ..RequirementStatus::default()
    };
    RequirementVerdict { entry, met: status == outcome::PRESENT }
}

type Finding = (&'static str, String, Option<String>);

fn look_at(
    observed: &Observed,
    crd: &CustomResourceDefinition,
    description: &CrdDescription,
    is_owned: bool,
) -> Finding {
    if is_owned {
        let others = ancestors_alongside(observed, crd);
        if !others.is_empty() {
            let others: Vec<&str> = others.into_iter().collect();
            let message = format!("CRD installed alongside other CSV(s): {}", others.join(", "));
            return (outcome::NOT_SATISFIED, message, None);
        }
    }
    let mut versions = crd.spec.versions.iter();
    if !versions.any(|version| version.name == description.version && version.served) {
        return (outcome::NOT_PRESENT, "CRD version not served".to_owned(), None);
    }
    if is_true(crd, conditions::ESTABLISHED) && is_true(crd, conditions::NAMES_ACCEPTED) {
        let message = "CRD is present and Established condition is true".to_owned();
        return (outcome::PRESENT, message, crd.metadata.uid.clone());
    }
    let message = "CRD is present but the Established condition is False (not available)";
    (outcome::NOT_AVAILABLE, message.to_owned(), None)
}

fn is_true(crd: &CustomResourceDefinition, wanted: &str) -> bool {
    let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|found| found.type_ == wanted && found.status == "True")
}
