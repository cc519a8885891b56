//! Whether the components run, and what follows when they do not (spec olm-operator 1.5, 1.6).

use jiff::{SignedDuration, Timestamp};
use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionStatus, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::serving::next_look;
use super::{Stage, Verdict};
use crate::csv::components::Components;
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::{Pass, Request};
use crate::csv::serving::removed;
use crate::csv::status::time_in_phase;
use crate::install::{Unhealthy, UnhealthyReason, incomplete, is_disrupted, is_ours};

/// How long components may take to become healthy; v0's value.
const INSTALL_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Pause before the first retry of a failed install. Each further failure in a row makes it four
/// times as long, up to [`LONGEST_RETRY_PAUSE`]. v0 retries with its queue's back-off, which a
/// restart forgets; here the history in the status keeps the count.
const FIRST_RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Pause before Pods that are on their way back are looked at again; v0's value.
const POD_PAUSE: SignedDuration = SignedDuration::from_secs(10);

/// How long an install waits at least before a Deployment that is missing is installed again: what was just
/// created may not be known yet, and who deletes it again and again is not raced.
const MISSING_PAUSE: SignedDuration = SignedDuration::from_secs(10);

/// Longest pause before a retry of a failed install.
const LONGEST_RETRY_PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// Follows the health of what was installed.
pub struct Health;

impl Stage for Health {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let decision = match observed.phase() {
            CsvPhase::Installing => installing(pass),
            CsvPhase::Succeeded => succeeded(pass),
            CsvPhase::Failed => failed(pass),
            CsvPhase::None
            | CsvPhase::Pending
            | CsvPhase::InstallReady
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => return Verdict::Continue,
        };
        match decision {
            Ok(decision) => Verdict::Stop(decision),
            Err(request) => Verdict::Need(request),
        }
    }
}

/// Waits for health until the timeout.
fn installing(pass: &Pass<'_>) -> Result<Decision, Request> {
    let status = pass.observed.status();
    let decision = evaluate(pass, CsvPhase::Installing, reasons::INSTALL_WAITING)?;
    let waits = decision.status.phase.as_ref().is_some_and(|to| to.phase == CsvPhase::Installing);
    if !waits {
        return Ok(decision);
    }
    let left = INSTALL_TIMEOUT.saturating_sub(time_in_phase(&status, pass.now));
    if left <= SignedDuration::ZERO {
        let reason = reasons::INSTALL_CHECK_FAILED;
        return Ok(Decision::enter(CsvPhase::Failed, reason, "install timeout"));
    }
    Ok(decision.requeue_at(later(pass.now, left)))
}

/// Looks again when certificates are due, since no event says so.
fn succeeded(pass: &Pass<'_>) -> Result<Decision, Request> {
    let decision = evaluate(pass, CsvPhase::Failed, reasons::COMPONENT_UNHEALTHY)?;
    Ok(match next_look(pass) {
        Some(at) => decision.requeue_at(at),
        None => decision,
    })
}

/// Recovers on its own when all is healthy; otherwise installs again, after a pause if it was the
/// install itself that failed.
fn failed(pass: &Pass<'_>) -> Result<Decision, Request> {
    let decision = evaluate(pass, CsvPhase::Pending, reasons::NEEDS_REINSTALL)?;
    let reinstalls = decision
        .status
        .phase
        .as_ref()
        .is_some_and(|to| matches!(to.phase, CsvPhase::Pending | CsvPhase::InstallReady));
    Ok(match pause_left(pass).filter(|_| reinstalls) {
        Some(left) => Decision::nothing()
            .requeue_at(later(pass.now, left))
            .note("waiting before the next install"),
        None => decision,
    })
}

/// How long a failed install still waits before it is tried again; nothing when it may be.
pub(super) fn pause_left(pass: &Pass<'_>) -> Option<SignedDuration> {
    let observed = pass.observed;
    let has_failed = observed.phase() == CsvPhase::Failed
        && observed.reason() == reasons::INSTALL_COMPONENT_FAILED;
    if !has_failed || observed.cluster_changed {
        return None;
    }
    let status = observed.status();
    let left = retry_pause(&status).saturating_sub(time_in_phase(&status, pass.now));
    (left > SignedDuration::ZERO).then_some(left)
}

/// Spec olm-operator 1.6. What the CSV does not describe any more is removed on the way.
fn evaluate(
    pass: &Pass<'_>,
    unhealthy: CsvPhase,
    reason: &'static str,
) -> Result<Decision, Request> {
    let observed = pass.observed;
    let decision = match pass.components()? {
        Components::Healthy => {
            let message = "install strategy completed with no errors";
            Decision::enter(CsvPhase::Succeeded, reasons::INSTALL_SUCCEEDED, message)
        }
        Components::Incomputable(why) => {
            let message = "calculated deployment install is bad";
            Decision::enter(CsvPhase::Pending, reasons::NEEDS_REINSTALL, message).note(why)
        }
        Components::Deployment(problem) => of_deployment(pass, problem, unhealthy, reason),
        Components::ApiServicesMissing if pods_come_back(pass)? => Decision::nothing()
            .requeue_at(later(pass.now, POD_PAUSE))
            .note("APIs are away while pods are replaced"),
        Components::ApiServicesMissing => {
            Decision::enter(unhealthy, reason, "apiServices not installed")
        }
        Components::WebhookFailed(why) => {
            let message = format!("Webhook install failed: {why}");
            Decision::enter(CsvPhase::InstallReady, reason, message)
        }
        Components::WebhooksMissing => Decision::enter(unhealthy, reason, "webhooks not installed"),
    };
    Ok(decision.after(removed(observed)))
}

/// What an install misses is made again: at once a Deployment that an older version of the operator wrote last
/// and has left since, and after [`MISSING_PAUSE`] one that is gone. One of another owner is left to it. v0 waits
/// in all cases until the install has timed out.
fn of_deployment(
    pass: &Pass<'_>,
    problem: Unhealthy,
    unhealthy: CsvPhase,
    reason: &'static str,
) -> Decision {
    let is_missing = pass.observed.phase() == CsvPhase::Installing
        && problem.reason == UnhealthyReason::ComponentMissing;
    match is_missing.then(|| made_again_at(pass)).flatten() {
        Some(at) if at <= pass.now => {
            let message = format!("installing: {}", problem.message);
            Decision::enter(CsvPhase::InstallReady, reason, message)
        }
        Some(at) => with_problem(problem, unhealthy, reason).requeue_at(at),
        None => with_problem(problem, unhealthy, reason),
    }
}

/// When a Deployment that is missing is made again; never before the timeout where another owner has it.
fn made_again_at(pass: &Pass<'_>) -> Option<Timestamp> {
    if is_left_by_replaced(pass) {
        return Some(pass.now);
    }
    let left = MISSING_PAUSE.saturating_sub(time_in_phase(&pass.observed.status(), pass.now));
    is_gone(pass.observed).then(|| later(pass.now, left))
}

/// Whether there is no Deployment at all of some name.
fn is_gone(observed: &Observed) -> bool {
    deployment_names(&observed.csv).any(|name| !observed.deployments.contains_key(name))
}

fn is_left_by_replaced(pass: &Pass<'_>) -> bool {
    let observed = pass.observed;
    let chain = pass.chain();
    let mut replaced = chain.ancestors(&observed.csv).into_iter().filter(|csv| makes_way(csv));
    let is_left = |csv: &ClusterServiceVersion| {
        let written =
            deployment_names(&observed.csv).filter_map(|name| observed.deployments.get(name));
        written.into_iter().any(|deployment| is_ours(csv, &deployment.metadata))
    };
    replaced.any(is_left)
}

fn makes_way(csv: &ClusterServiceVersion) -> bool {
    matches!(csv.phase(), CsvPhase::Replacing | CsvPhase::Deleting)
}

fn deployment_names(csv: &ClusterServiceVersion) -> impl Iterator<Item = &str> {
    let strategy = csv.spec.install.spec.iter();
    strategy.flat_map(|strategy| &strategy.deployments).map(|entry| entry.name.as_str())
}

/// Whether an API may be away only because Pods of the CSV are on their way back.
///
/// # Errors
/// The question for the Pods, while they are not known.
fn pods_come_back(pass: &Pass<'_>) -> Result<bool, Request> {
    let observed = pass.observed;
    let incomplete = incomplete(&observed.csv, &observed.deployments);
    if incomplete.is_empty() {
        return Ok(false);
    }
    let pods = observed.pods.as_ref().ok_or(Request::Pods(incomplete))?;
    Ok(pods.iter().any(|pod| is_disrupted(pod, pass.now)))
}

fn with_problem(problem: Unhealthy, unhealthy: CsvPhase, reason: &'static str) -> Decision {
    let Unhealthy { reason: kind, message } = problem;
    match kind {
        UnhealthyReason::Timeout => {
            let message = format!("install failed: {message}");
            Decision::enter(CsvPhase::Failed, reasons::INSTALL_CHECK_FAILED, message)
        }
        UnhealthyReason::AnnotationsMissing | UnhealthyReason::DeploymentUpdated => {
            Decision::enter(CsvPhase::InstallReady, reason, format!("installing: {message}"))
        }
        UnhealthyReason::ComponentMissing | UnhealthyReason::Waiting => {
            Decision::enter(unhealthy, reason, format!("installing: {message}"))
        }
    }
}

fn retry_pause(status: &ClusterServiceVersionStatus) -> SignedDuration {
    let since_success = status.conditions.iter().rev();
    let failures = since_success
        .take_while(|past| past.phase != CsvPhase::Succeeded)
        .filter(|past| past.reason.as_deref() == Some(reasons::INSTALL_COMPONENT_FAILED))
        .count();
    let exponent = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    let factor = 4_i32.checked_pow(exponent).unwrap_or(i32::MAX);
    let pause = FIRST_RETRY_PAUSE.checked_mul(factor).unwrap_or(LONGEST_RETRY_PAUSE);
    pause.min(LONGEST_RETRY_PAUSE)
}

fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}
