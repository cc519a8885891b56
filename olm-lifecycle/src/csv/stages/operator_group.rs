//! A CSV needs exactly one OperatorGroup whose namespaces it supports (spec olm-operator 1.4,
//! gates 4-7).

use olm_opgroup::{MemberAnnotations, check_duplicates, check_support};
use olm_types::annotations;
use olm_types::api::{CsvPhase, OperatorGroup};
use olm_types::conditions::operator_group::INVALID_TARGETS;
use olm_types::reasons::csv as reasons;
use olm_types::reasons::operator_group::TARGETS_NOT_ALLOWED;
use serde_json::json;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::csv::resources::patch_metadata;

/// Puts the group's annotations on the CSV and checks its install modes against them.
pub struct Membership;

impl Stage for Membership {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let groups = observed.own_groups();
        let decision = match groups.as_slice() {
            [] => {
                Some(failed(reasons::NO_OPERATOR_GROUP, "csv in namespace with no operatorgroups"))
            }
            [group] => join(observed, group).or_else(|| check_modes(observed)),
            _ => Some(failed(
                reasons::TOO_MANY_OPERATOR_GROUPS,
                "csv created in namespace with multiple operatorgroups, can't pick one automatically",
            )),
        };
        decision.map_or(Verdict::Continue, Verdict::Stop)
    }
}

/// Makes the CSV show its group; `None` when it does.
fn join(observed: &Observed, group: &OperatorGroup) -> Option<Decision> {
    let listed = group.status.as_ref().map(|status| status.namespaces.len()).unwrap_or_default();
    let selects_nothing = observed.selected.as_ref().is_some_and(|selected| selected.is_empty());
    if let Some(refusal) = refused_targets(group).filter(|_| listed == 0) {
        return Some(failed(reasons::NO_TARGET_NAMESPACES, refusal));
    }
    if listed == 0 && !selects_nothing {
        let note = "waiting for the OperatorGroup's status to list its namespaces";
        return Some(Decision::nothing().note(note));
    }
    let none = std::collections::BTreeMap::new();
    let present = observed.csv.metadata.annotations.as_ref().unwrap_or(&none);
    let missing = MemberAnnotations::of(group).missing_from(present);
    if !missing.is_empty() {
        let patch = patch_metadata(&observed.csv, json!({"annotations": missing}));
        return Some(Decision::act(vec![patch]));
    }
    selects_nothing.then(|| {
        failed(
            reasons::NO_TARGET_NAMESPACES,
            "no targetNamespaces are matched operatorgroups namespace selection",
        )
    })
}

/// Why the group may not have the targets that it selects, under the strict tenant policy.
fn refused_targets(group: &OperatorGroup) -> Option<&str> {
    let mut conditions = group.status.iter().flat_map(|status| &status.conditions);
    let refused = conditions.find(|condition| {
        condition.type_ == INVALID_TARGETS && condition.reason == TARGETS_NOT_ALLOWED
    })?;
    Some(&refused.message)
}

/// Checks the install modes; `None` when they fit.
fn check_modes(observed: &Observed) -> Option<Decision> {
    let modes = &observed.csv.spec.install_modes;
    if let Err(error) = check_duplicates(modes) {
        return Some(failed(reasons::INVALID_INSTALL_MODES, &error.to_string()));
    }
    let Some(targets) = observed.annotation(annotations::TARGET_NAMESPACES) else {
        let message = "csv missing olm.targetNamespaces annotation";
        return Some(failed(reasons::NO_TARGET_NAMESPACES, message));
    };
    let targets: Vec<&str> = targets.split(',').collect();
    let error = check_support(modes, observed.namespace(), &targets).err()?;
    Some(failed(reasons::UNSUPPORTED_OPERATOR_GROUP, &error.to_string()))
}

fn failed(reason: &'static str, message: &str) -> Decision {
    Decision::enter(CsvPhase::Failed, reason, message)
}
