//! What follows from an execution: the plan is done, waits, is tried again or has failed.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Effect;
use olm_types::api::{Approval, InstallPlanPhase, InstallPlanStatus, Step, StepStatus};
use olm_types::reasons::install_plan as reasons;

use super::Observed;
use super::status::{reset, set_installed, status_effects};
use crate::install_plan::execution::{Ended, NoteKind, StepError};
use crate::install_plan::{plan_order, report};

/// How long to wait before a plan that is not done is looked at again.
pub const RETRY: Duration = Duration::from_secs(5);

/// The shortest wait before an execution that failed is tried again. It is as long as the plan has been
/// under way, up to [`RETRY`]: what is repaired soon goes on soon.
pub const FIRST_RETRY: Duration = Duration::from_secs(1);

/// How long to wait for a CRD that was created a moment ago; usually it is served at once.
pub(crate) const API_POLL: Duration = Duration::from_millis(200);

/// How long after its start a plan is looked at again that soon.
const API_POLL_TIME: Duration = Duration::from_secs(10);

/// What follows from an execution.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// Events about the steps, then the status write, if the status changed.
    pub effects: Vec<Effect>,
    /// For how many steps the API server warned.
    pub warned: usize,
    /// When to look again.
    pub requeue: Option<Duration>,
    /// What is wrong, if something is.
    pub problem: Option<String>,
}

/// Turns the steps as an execution left them into the plan's status.
pub fn conclude(observed: &Observed, ended: Ended, now: Timestamp) -> Conclusion {
    let before = observed.plan.status.clone().unwrap_or_default();
    let mut status = plan_order::taken(reset(&before, now));
    let start = status.start_time.get_or_insert(Time(now)).0;
    let running = since(start, now);
    let mut effects = report::events(&observed.plan, &ended);
    let warnings = ended.notes.iter().filter(|note| matches!(note.what, NoteKind::Warnings(_)));
    let warned = warnings.count();
    status.plan = ended.steps;
    let (requeue, problem) = match ended.failure {
        Some(error) if running < observed.retry_timeout || is_endless(&error, &status) => {
            let message = format!("retrying execution due to error: {error}");
            status.phase = InstallPlanPhase::Installing;
            status.message = Some(message.clone());
            (Some(running.clamp(FIRST_RETRY, RETRY)), Some(message))
        }
        Some(error) => {
            fail(&mut status, error.to_string(), now);
            (error.may_pass().then_some(RETRY), Some(error.to_string()))
        }
        None if status.plan.iter().any(|step| step.status == StepStatus::WaitingForApi) => {
            status.phase = InstallPlanPhase::Installing;
            (Some(if running < API_POLL_TIME { API_POLL } else { RETRY }), None)
        }
        None => {
            complete(&mut status, &observed.plan.spec.approval, now);
            (None, None)
        }
    };
    effects.extend(status_effects(observed, status));
    Conclusion { effects, warned, requeue, problem }
}

/// Records how far an execution came that was given up because what the plan was judged by changed
/// meanwhile; the plan is looked at again soon.
pub fn interrupt(observed: &Observed, ended: Ended, now: Timestamp) -> Conclusion {
    let before = observed.plan.status.clone().unwrap_or_default();
    let mut status = plan_order::taken(reset(&before, now));
    status.start_time.get_or_insert(Time(now));
    let mut effects = report::events(&observed.plan, &ended);
    status.plan = ended.steps;
    effects.extend(status_effects(observed, status));
    Conclusion { effects, requeue: Some(FIRST_RETRY), ..Conclusion::default() }
}

/// What is forbidden to OLM's own account, such as by a quota, is not the plan's failure. Where a group
/// names the account, its owner reads in the phase that a right is missing.
fn is_endless(error: &StepError, status: &InstallPlanStatus) -> bool {
    error.is_forbidden() && status.attenuated_service_account_ref.is_none()
}

fn fail(status: &mut InstallPlanStatus, error: String, now: Timestamp) {
    status.phase = InstallPlanPhase::Failed;
    status.message = Some(error.clone());
    let reason = Some(reasons::INSTALL_COMPONENT_FAILED);
    set_installed(status, "False", reason, Some(error), now);
}

fn complete(status: &mut InstallPlanStatus, approval: &Approval, now: Timestamp) {
    status.phase = InstallPlanPhase::Complete;
    status.message = None;
    if *approval == Approval::Automatic {
        status.plan.iter_mut().for_each(report_as_present);
    }
    set_installed(status, "True", None, None, now);
}

/// v0 walks an automatically approved plan twice, so that its second pass meets what the first one
/// created: tools see `Present` there, and `Created` only in a plan that a user approved.
fn report_as_present(step: &mut Step) {
    if step.status == StepStatus::Created {
        step.status = StepStatus::Present;
    }
}

/// Time that passed; none for a start in the future.
fn since(start: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(start)).unwrap_or_default()
}
