//! A CSV needs exactly one OperatorGroup whose namespaces it supports (spec olm-operator 1.4,
//! gates 4-7).

use std::collections::BTreeMap;

use olm_opgroup::{MemberAnnotations, NamespaceSet, NoTargets, check_duplicates, check_support};
use olm_types::annotations;
use olm_types::api::{CsvPhase, OperatorGroup};
use olm_types::reasons::csv as reasons;
use serde_json::json;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::writes::patch_metadata;

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

/// Makes the CSV show its group; `None` when it does. It waits until the group's status says what
/// the group gives, as v0 does, but shows the latter.
fn join(observed: &Observed, group: &OperatorGroup) -> Option<Decision> {
    let targets = match observed.namespaces.targets(group) {
        Ok(targets) => targets,
        Err(refused) => return Some(without_targets(&refused)),
    };
    if !is_current(group, &targets) {
        let note = "waiting for the OperatorGroup's status to list its namespaces";
        return Some(Decision::nothing().note(note));
    }
    let missing = missing(observed, group, &targets);
    if !missing.is_empty() {
        let patch = patch_metadata(&observed.csv, json!({"annotations": missing}));
        return Some(Decision::act(vec![patch]));
    }
    targets.is_empty().then(|| {
        failed(
            reasons::NO_TARGET_NAMESPACES,
            "no targetNamespaces are matched operatorgroups namespace selection",
        )
    })
}

/// The annotations that the CSV lacks of its only group; nothing while that does not say what it gives.
pub(super) fn lacking(observed: &Observed) -> Option<BTreeMap<&'static str, String>> {
    let groups = observed.own_groups();
    let [group] = groups.as_slice() else { return None };
    let targets = observed.namespaces.targets(group).ok()?;
    is_current(group, &targets).then(|| missing(observed, group, &targets))
}

fn missing(
    observed: &Observed,
    group: &OperatorGroup,
    targets: &NamespaceSet,
) -> BTreeMap<&'static str, String> {
    let none = BTreeMap::new();
    let present = observed.csv.metadata.annotations.as_ref().unwrap_or(&none);
    MemberAnnotations::of(group, targets).missing_from(present)
}

/// A group whose selection is malformed says so itself; its members stay as they are until it is
/// mended, as in v0.
fn without_targets(refused: &NoTargets) -> Decision {
    match refused {
        NoTargets::Going { .. } => failed(reasons::NO_OPERATOR_GROUP, &refused.to_string()),
        NoTargets::NotAllowed(_) => failed(reasons::NO_TARGET_NAMESPACES, &refused.to_string()),
        NoTargets::Malformed(_) => Decision::nothing().note(refused.to_string()),
    }
}

/// Whether the status of a group lists what it gives.
fn is_current(group: &OperatorGroup, targets: &NamespaceSet) -> bool {
    let listed = group.status.iter().flat_map(|status| &status.namespaces);
    listed.cloned().collect::<NamespaceSet>() == *targets
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
