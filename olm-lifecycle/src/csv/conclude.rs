//! Turns the outcomes of a decision's effects into the writes of status and event.

use jiff::Timestamp;
use olm_effect::{Action, Effect, EventNote, EventType, Identity, Outcome, Refusal};
use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, ClusterServiceVersionStatus, CsvPhase,
};
use olm_types::reasons::csv as reasons;

use super::decision::{Decision, OnRefusal, PhaseChange, StatusChange};
use super::immutable::in_the_way;
use super::observed::Observed;
use super::status::changed_status;
use crate::digest::digest;
use crate::writes::{status_write, target_of};

/// What is left to do after the effects of a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The status write, then the event about it: an event that cannot be verified is worse than
    /// one that comes a moment later. With a `failure`, what clears its cause away.
    pub effects: Vec<Effect>,
    /// The phase that the status write sets, when it sets a new one.
    pub entered: Option<CsvPhase>,
    /// The digest of what the status write says, when it only brings message or requirements up to
    /// date in a phase that was entered for the same reason: such a write may wait for the next one.
    pub refreshes: Option<u64>,
    /// When to look again although nothing happened.
    pub requeue_at: Option<Timestamp>,
    /// A refusal that calls for another try.
    pub failure: Option<Refusal>,
}

/// Concludes a decision from what became of its effects.
pub fn conclude(
    observed: &Observed,
    decision: &Decision,
    outcomes: &[Outcome],
    now: Timestamp,
) -> Conclusion {
    let refused = outcomes
        .iter()
        .zip(&decision.effects)
        .find_map(|(outcome, effect)| refusal(outcome, effect).map(|refusal| (refusal, effect)));
    match refused {
        None => write(observed, &decision.status, decision.requeue_at, now),
        Some((refusal, effect)) => refused_effect(observed, decision, effect, refusal, now),
    }
}

/// A create that met an existing object acted on a stale observation, and is tried again.
fn refusal(outcome: &Outcome, effect: &Effect) -> Option<Refusal> {
    match (outcome, &effect.action) {
        (Outcome::AlreadyExists, _) => Some(Refusal {
            code: 409,
            reason: "AlreadyExists".to_owned(),
            message: format!("{} already exists", effect.target),
        }),
        (Outcome::NotFound, Action::Delete { .. }) => None,
        (Outcome::NotFound, _) => Some(Refusal {
            code: 409,
            reason: "NotFound".to_owned(),
            message: format!("{} is gone", effect.target),
        }),
        _ => outcome.refusal().cloned(),
    }
}

fn refused_effect(
    observed: &Observed,
    decision: &Decision,
    effect: &Effect,
    refusal: Refusal,
    now: Timestamp,
) -> Conclusion {
    if let Some(effects) = in_the_way(observed, effect, &refusal) {
        return Conclusion { effects, failure: Some(refusal), ..Conclusion::default() };
    }
    let tried_again =
        refusal.is_conflict() || refusal.is_transient() || is_about_account(effect, &refusal);
    if decision.on_refusal == OnRefusal::Retry || tried_again {
        return Conclusion { failure: Some(refusal), ..Conclusion::default() };
    }
    let phase = if refusal.is_forbidden() && is_final(effect) {
        // The doubled prefix is what v0 writes.
        let message = format!("install strategy failed: install strategy failed: {refusal}");
        failed(reasons::INSTALL_COMPONENT_FAILED_NO_RETRY, message)
    } else {
        failed(reasons::INSTALL_COMPONENT_FAILED, format!("install strategy failed: {refusal}"))
    };
    let status = StatusChange { phase: Some(phase), ..StatusChange::default() };
    write(observed, &status, decision.requeue_at, now)
}

/// Whether it is the account that cannot act: it is gone, or its token is not accepted any more.
/// Nothing that an install writes answers so to an account that can.
fn is_about_account(effect: &Effect, refusal: &Refusal) -> bool {
    effect.identity != Identity::Own && matches!(refusal.code, 401 | 404)
}

/// Whether v0 waits for a change around the CSV after this write was forbidden. It tries again on
/// its own where services, certificates and their rights are concerned, and deletions.
fn is_final(effect: &Effect) -> bool {
    const KINDS: [&str; 5] = [
        "APIService",
        "CustomResourceDefinition",
        "Deployment",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ];
    let is_deletion = matches!(effect.action, Action::Delete { .. });
    !is_deletion && KINDS.contains(&effect.target.resource.kind.as_str())
}

fn failed(reason: &'static str, message: String) -> PhaseChange {
    PhaseChange { phase: CsvPhase::Failed, reason, message }
}

fn write(
    observed: &Observed,
    change: &StatusChange,
    requeue_at: Option<Timestamp>,
    now: Timestamp,
) -> Conclusion {
    let before = observed.status();
    let Some(after) = changed_status(&before, change, now) else {
        return Conclusion { requeue_at, ..Conclusion::default() };
    };
    let announced = change.phase.as_ref().filter(|phase| phase.differs_from(&before));
    let entered = Some(after.phase).filter(|phase| *phase != before.phase);
    let refreshes = refreshes(&before, &after);
    let seen = without_spec(&observed.csv, observed.csv.status.clone());
    let wanted = without_spec(&observed.csv, Some(after));
    let mut effects: Vec<Effect> = status_write(&seen, &wanted).into_iter().collect();
    if !change.quiet {
        effects.extend(announced.map(|phase| event(observed.csv.as_ref(), phase)));
    }
    Conclusion { effects, entered, refreshes, requeue_at, failure: None }
}

/// The CSV with this status. Its spec, which is no part of the write, may be a hundred times as large.
fn without_spec(
    csv: &ClusterServiceVersion,
    status: Option<ClusterServiceVersionStatus>,
) -> ClusterServiceVersion {
    let spec = ClusterServiceVersionSpec::default();
    ClusterServiceVersion { metadata: csv.metadata.clone(), spec, status }
}

/// Nothing but these two waits: observers follow phases and their reasons, which stay in the history of the
/// status, and certificates have their own times.
fn refreshes(
    before: &ClusterServiceVersionStatus,
    after: &ClusterServiceVersionStatus,
) -> Option<u64> {
    let same = before.phase == after.phase
        && before.reason == after.reason
        && before.certs_last_updated == after.certs_last_updated
        && before.certs_rotate_at == after.certs_rotate_at;
    same.then(|| digest(&(&after.message, &after.requirement_status)))
}

fn event(csv: &ClusterServiceVersion, change: &PhaseChange) -> Effect {
    let event_type = match change.phase {
        CsvPhase::Failed => EventType::Warning,
        _ => EventType::Normal,
    };
    let note = EventNote {
        event_type,
        reason: change.reason.to_owned(),
        message: change.message.clone(),
        uid: csv.metadata.uid.clone(),
        field_path: None,
    };
    Effect::event(target_of(csv), note)
}
