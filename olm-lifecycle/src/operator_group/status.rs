//! The status that a group should have.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use olm_opgroup::{NamespaceSet, NoTargets};
use olm_types::api::OperatorGroupStatus;
use olm_types::conditions::{operator_group as conditions, set_condition};
use olm_types::reasons::operator_group as reasons;

use super::{Observed, service_account};

/// Most bytes of the message of a condition: the API server counts characters.
const LONGEST: usize = 32_768;

/// The status, equal to the present one when nothing changed, and remarks for the log.
pub(super) fn desired(
    observed: &Observed,
    now: Timestamp,
) -> (Option<OperatorGroupStatus>, Vec<String>) {
    let present = observed.group.status.clone().unwrap_or_default();
    let mut wanted = present.clone();
    let selected = observed.namespaces.targets(&observed.group);
    match &selected {
        Ok(selected) => set_namespaces(&mut wanted, selected),
        // What was selected before the policy was strict does not go on.
        Err(NoTargets::NotAllowed(_)) => wanted.namespaces.clear(),
        Err(NoTargets::Malformed(_) | NoTargets::Going { .. }) => {}
    }
    let now = service_account::status_time(now);
    let multiple = (observed.groups_in_namespace > 1).then(|| {
        let text = "Multiple OperatorGroup found in the same namespace".to_owned();
        (reasons::MULTIPLE_OPERATOR_GROUPS_FOUND, text)
    });
    note_condition(&mut wanted, conditions::MULTIPLE_OPERATOR_GROUP, multiple, &now);
    let invalid = selected.err().map(|refused| (reason(&refused), refused.to_string()));
    let problem = invalid.as_ref().map(|(_, text)| text.clone());
    note_condition(&mut wanted, conditions::INVALID_TARGETS, invalid, &now);
    let missing = service_account::follow(observed, &mut wanted, &now);
    let notes = problem.into_iter().chain(missing).collect();
    if wanted == present {
        return (observed.group.status.clone(), notes);
    }
    wanted.last_updated = Some(now);
    (Some(wanted), notes)
}

fn reason(refused: &NoTargets) -> &'static str {
    match refused {
        NoTargets::NotAllowed(_) => reasons::TARGETS_NOT_ALLOWED,
        NoTargets::Malformed(_) | NoTargets::Going { .. } => reasons::INVALID_SPEC,
    }
}

/// Replaces the list only when it holds other namespaces: v0 writes it in any order.
fn set_namespaces(status: &mut OperatorGroupStatus, selected: &NamespaceSet) {
    let present: NamespaceSet = status.namespaces.iter().cloned().collect();
    if present != *selected {
        status.namespaces = selected.names().map(str::to_owned).collect();
    }
}

/// Makes a condition true with a reason and a message, or removes it.
pub(super) fn note_condition(
    status: &mut OperatorGroupStatus,
    type_: &str,
    wanted: Option<(&str, String)>,
    now: &Time,
) {
    let Some((reason, message)) = wanted else {
        status.conditions.retain(|condition| condition.type_ != type_);
        return;
    };
    set_condition(&mut status.conditions, mk_condition(type_, reason, message, now));
}

/// A message may repeat what the group says, and the API server takes no longer ones.
fn mk_condition(type_: &str, reason: &str, mut message: String, now: &Time) -> Condition {
    message.truncate(message.floor_char_boundary(LONGEST));
    Condition {
        type_: type_.to_owned(),
        status: "True".to_owned(),
        reason: reason.to_owned(),
        message,
        last_transition_time: now.clone(),
        observed_generation: None,
    }
}
