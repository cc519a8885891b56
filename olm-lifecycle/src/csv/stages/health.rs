//! Whether the components run, and what follows when they do not (spec olm-operator 1.5, 1.6).

use jiff::{SignedDuration, Timestamp};
use olm_types::api::{ClusterServiceVersionStatus, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::csv::requirements::Evaluation;
use crate::csv::status::time_in_phase;
use crate::install::{Unhealthy, UnhealthyReason, check_installed};

/// How long components may take to become healthy; v0's value.
const INSTALL_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Pause before the first retry of a failed install. Each further failure in a row makes it four
/// times as long, up to [`LONGEST_RETRY_PAUSE`]. v0 retries with its queue's back-off, which a
/// restart forgets; here the history in the status keeps the count.
const FIRST_RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Longest pause before a retry of a failed install.
const LONGEST_RETRY_PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// Follows the health of what was installed.
pub struct Health;

impl Stage for Health {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let decision = match observed.phase() {
            CsvPhase::Installing => installing(pass),
            CsvPhase::Succeeded => {
                evaluate(observed, CsvPhase::Failed, reasons::COMPONENT_UNHEALTHY)
            }
            CsvPhase::Failed => failed(pass),
            CsvPhase::None
            | CsvPhase::Pending
            | CsvPhase::InstallReady
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => return Verdict::Continue,
        };
        Verdict::Stop(with_fresh_requirements(pass, decision))
    }
}

/// Waits for health until the timeout.
fn installing(pass: &Pass<'_>) -> Decision {
    let status = pass.observed.status();
    let decision = evaluate(pass.observed, CsvPhase::Installing, reasons::INSTALL_WAITING);
    let waits = decision.status.phase.as_ref().is_some_and(|to| to.phase == CsvPhase::Installing);
    if !waits {
        return decision;
    }
    let left = INSTALL_TIMEOUT.saturating_sub(time_in_phase(&status, pass.now));
    if left <= SignedDuration::ZERO {
        let reason = reasons::INSTALL_CHECK_FAILED;
        return Decision::enter(CsvPhase::Failed, reason, "install timeout");
    }
    decision.requeue_at(later(pass.now, left))
}

/// Recovers on its own when all is healthy; otherwise installs again, after a pause if it was the
/// install itself that failed.
fn failed(pass: &Pass<'_>) -> Decision {
    let observed = pass.observed;
    let decision = evaluate(observed, CsvPhase::Pending, reasons::NEEDS_REINSTALL);
    let reinstalls = decision
        .status
        .phase
        .as_ref()
        .is_some_and(|to| matches!(to.phase, CsvPhase::Pending | CsvPhase::InstallReady));
    if !reinstalls || observed.reason() != reasons::INSTALL_COMPONENT_FAILED {
        return decision;
    }
    let status = observed.status();
    let left = retry_pause(&status).saturating_sub(time_in_phase(&status, pass.now));
    if observed.cluster_changed || left <= SignedDuration::ZERO {
        return decision;
    }
    Decision::nothing().requeue_at(later(pass.now, left)).note("waiting before the next install")
}

/// Spec olm-operator 1.6 without API services and webhooks.
fn evaluate(observed: &Observed, unhealthy: CsvPhase, reason: &'static str) -> Decision {
    let trouble = match check_installed(&observed.csv, &observed.deployments) {
        Err(_) => {
            let message = "calculated deployment install is bad";
            return Decision::enter(CsvPhase::Pending, reasons::NEEDS_REINSTALL, message);
        }
        Ok(Ok(())) => {
            let message = "install strategy completed with no errors";
            return Decision::enter(CsvPhase::Succeeded, reasons::INSTALL_SUCCEEDED, message);
        }
        Ok(Err(trouble)) => trouble,
    };
    let Unhealthy { reason: kind, message } = trouble;
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

/// In phases that check requirements, the list in the status stays true even if nothing else
/// changes.
fn with_fresh_requirements(pass: &Pass<'_>, decision: Decision) -> Decision {
    let checks = matches!(pass.observed.phase(), CsvPhase::Succeeded | CsvPhase::Failed);
    match pass.requirements() {
        Evaluation::Known(requirements) if checks => {
            decision.with_requirements(&requirements.entries)
        }
        Evaluation::Known(_) | Evaluation::Invalid(_) | Evaluation::Need(_) => decision,
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
