//! The phases of an InstallPlan (spec catalog-operator 4.3).
//!
//! `RequiresApproval -> Installing -> Complete | Failed`. While it is Installing, a failing step is
//! tried again for a minute, without limit when only rights are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_effect::{Effect, Identity};
use olm_types::api::{
    Approval, InstallPlan, InstallPlanCondition, InstallPlanPhase, InstallPlanStatus,
    OperatorGroup, Step, StepStatus,
};
use olm_types::conditions::install_plan::INSTALLED;
use olm_types::reasons::install_plan as reasons;

use super::attenuation;
use super::execution::{Ended, Execution, Matter, Scope};
use super::request::{is_without_status, made_by_user};
use super::{report, stale, superseded};
use crate::crd::CrdOwner;
use crate::tenancy::StepTrust;
use crate::writes::status_write;

/// How long to wait before a plan that is not done is looked at again.
pub const RETRY: Duration = Duration::from_secs(5);

/// How long to wait for a CRD that was created a moment ago; usually it is served at once.
pub const API_POLL: Duration = Duration::from_millis(200);

/// How long after its start a plan is looked at again that soon.
const API_POLL_TIME: Duration = Duration::from_secs(10);

/// What is known about a plan.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The plan.
    pub plan: Arc<InstallPlan>,
    /// OperatorGroups of its namespace.
    pub groups: Vec<Arc<OperatorGroup>>,
    /// `(namespace, name)` of every CSV that is not a copy.
    pub csvs: BTreeSet<(String, String)>,
    /// CSVs that are gone from its namespace, and that one which is there replaces.
    pub replaced: BTreeSet<String>,
    /// CSVs that own a CRD, by name of the CRD.
    pub crd_owners: BTreeMap<String, BTreeSet<CrdOwner>>,
    /// Whether rights or accounts of the namespace changed since the plan was looked at last.
    pub rights_changed: bool,
    /// Namespace of the operator itself.
    pub operator_namespace: String,
    /// How long a failing step is tried again (`--install-plan-retry-timeout`).
    pub retry_timeout: Duration,
    /// Which of its steps OLM's own rights may serve.
    pub trust: StepTrust,
}

/// What to do with a plan.
pub enum Decision {
    /// Nothing: no steps, done, or waiting for approval.
    Nothing,
    /// Write its status; what is wrong goes to the log and the plan is retried.
    Write {
        /// The writes; none when the status says it already.
        effects: Vec<Effect>,
        /// What is wrong, if something is.
        problem: Option<String>,
    },
    /// A user made it and it has no steps yet: find them, then ask [`super::request::requested`].
    Resolve,
    /// Execute its steps, then ask [`conclude`].
    Execute(Box<Execution>),
}

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

/// Decides what to do with a plan now.
pub fn decide(observed: &Observed, now: Timestamp) -> Decision {
    let Some(status) = observed.plan.status.as_ref().filter(|_| !is_without_status(&observed.plan))
    else {
        return if made_by_user(&observed.plan) { Decision::Resolve } else { Decision::Nothing };
    };
    match status.phase {
        InstallPlanPhase::Failed => return retry_of_failed(observed, status),
        InstallPlanPhase::Complete => return Decision::Nothing,
        InstallPlanPhase::None
        | InstallPlanPhase::Planning
        | InstallPlanPhase::RequiresApproval
        | InstallPlanPhase::Installing => {}
    }
    let account = match attenuation::account(&observed.groups) {
        Ok(account) => account,
        Err(error) => {
            let problem = format!("attenuated service account query failed - {error}");
            return check_failed(observed, error.to_string(), problem, now);
        }
    };
    if account.is_some() && status.attenuated_service_account_ref != account {
        let wanted =
            InstallPlanStatus { attenuated_service_account_ref: account, ..reset(status, now) };
        return write(observed, wanted, None);
    }
    let namespace = observed.plan.namespace().unwrap_or_default();
    if account.is_none()
        && let Some(problem) = observed.trust.refusal(&status.plan, &namespace)
    {
        return check_failed(observed, problem.clone(), problem, now);
    }
    match status.phase {
        InstallPlanPhase::RequiresApproval if observed.plan.spec.approved => {
            if let Some(problem) = stale::problem(&observed.plan) {
                return check_failed(observed, problem.clone(), problem, now);
            }
            let wanted = InstallPlanStatus {
                phase: InstallPlanPhase::Installing,
                message: None,
                ..reset(status, now)
            };
            write(observed, wanted, None)
        }
        InstallPlanPhase::Installing => {
            Decision::Execute(Box::new(execution(observed, status, account)))
        }
        InstallPlanPhase::RequiresApproval => write(observed, reset(status, now), None),
        InstallPlanPhase::None
        | InstallPlanPhase::Planning
        | InstallPlanPhase::Complete
        | InstallPlanPhase::Failed => Decision::Nothing,
    }
}

/// Turns the steps as an execution left them into the plan's status.
pub fn conclude(observed: &Observed, ended: Ended, now: Timestamp) -> Conclusion {
    let before = observed.plan.status.clone().unwrap_or_default();
    let mut status = reset(&before, now);
    let start = status.start_time.get_or_insert(Time(now)).0;
    let mut effects = report::events(&observed.plan, &ended);
    let warnings = ended.notes.iter().filter(|note| matches!(note.what, Matter::Warnings(_)));
    let mut conclusion = Conclusion { warned: warnings.count(), ..Conclusion::default() };
    status.plan = ended.steps;
    match ended.failure {
        Some(error) if error.is_forbidden() || since(start, now) < observed.retry_timeout => {
            let message = format!("retrying execution due to error: {error}");
            status.message = Some(message.clone());
            conclusion.requeue = Some(RETRY);
            conclusion.problem = Some(message);
        }
        Some(error) => {
            status.phase = InstallPlanPhase::Failed;
            status.message = Some(error.to_string());
            let text = error.to_string();
            set_installed(
                &mut status,
                "False",
                Some(reasons::INSTALL_COMPONENT_FAILED),
                Some(text.clone()),
                now,
            );
            conclusion.problem = Some(text);
        }
        None if status.plan.iter().any(|step| step.status == StepStatus::WaitingForApi) => {
            conclusion.requeue =
                Some(if since(start, now) < API_POLL_TIME { API_POLL } else { RETRY });
        }
        None => {
            status.phase = InstallPlanPhase::Complete;
            status.message = None;
            if observed.plan.spec.approval == Approval::Automatic {
                status.plan.iter_mut().for_each(report_as_present);
            }
            set_installed(&mut status, "True", None, None, now);
        }
    }
    effects.extend(status_effects(observed, status));
    conclusion.effects = effects;
    conclusion
}

/// A plan that failed under an account is tried again when the account may have more rights. Its
/// start stays, so that another failure is final at once unless rights are still missing.
fn retry_of_failed(observed: &Observed, status: &InstallPlanStatus) -> Decision {
    if !observed.rights_changed || status.attenuated_service_account_ref.is_none() {
        return Decision::Nothing;
    }
    let phase = InstallPlanPhase::Installing;
    write(observed, InstallPlanStatus { phase, ..status.clone() }, None)
}

/// v0 walks an automatically approved plan twice, so that its second pass meets what the first one
/// created: tools see `Present` there, and `Created` only in a plan that somebody approved.
fn report_as_present(step: &mut Step) {
    if step.status == StepStatus::Created {
        step.status = StepStatus::Present;
    }
}

fn execution(
    observed: &Observed,
    status: &InstallPlanStatus,
    account: Option<ObjectReference>,
) -> Execution {
    let scope = Scope {
        namespace: observed.plan.namespace().unwrap_or_default(),
        plan: observed.plan.name_any(),
        operator_namespace: observed.operator_namespace.clone(),
        identity: account.map_or(Identity::Own, acting_as),
        trust: observed.trust.clone(),
        csvs: observed.csvs.clone(),
        crd_owners: observed.crd_owners.clone(),
        wanted: observed.plan.spec.cluster_service_version_names.iter().cloned().collect(),
        ..Scope::default()
    };
    Execution::new(scope, superseded::settle(&status.plan, &observed.replaced))
}

/// The identity of an account that an OperatorGroup names.
pub(crate) fn acting_as(account: ObjectReference) -> Identity {
    Identity::ServiceAccount {
        namespace: account.namespace.unwrap_or_default(),
        name: account.name.unwrap_or_default(),
    }
}

fn check_failed(observed: &Observed, message: String, problem: String, now: Timestamp) -> Decision {
    let mut status = observed.plan.status.clone().unwrap_or_default();
    let reason = Some(reasons::INSTALL_CHECK_FAILED);
    set_installed(&mut status, "False", reason, Some(message), now);
    write(observed, status, Some(problem))
}

fn write(observed: &Observed, status: InstallPlanStatus, problem: Option<String>) -> Decision {
    let effects = status_effects(observed, status);
    if effects.is_empty() && problem.is_none() {
        Decision::Nothing
    } else {
        Decision::Write { effects, problem }
    }
}

fn status_effects(observed: &Observed, status: InstallPlanStatus) -> Vec<Effect> {
    let wanted = InstallPlan { status: Some(status), ..(*observed.plan).clone() };
    status_write(&*observed.plan, &wanted).into_iter().collect()
}

/// The status with a failed precondition withdrawn, once it holds again.
fn reset(status: &InstallPlanStatus, now: Timestamp) -> InstallPlanStatus {
    let mut status = status.clone();
    let failed = |condition: &InstallPlanCondition| {
        condition.reason.as_deref() == Some(reasons::INSTALL_CHECK_FAILED)
    };
    if status.conditions.iter().any(failed) {
        set_installed(&mut status, "False", Some(reasons::UNKNOWN), None, now);
    }
    status
}

/// Sets the condition `Installed`. Its times change only when something else in it does.
fn set_installed(
    status: &mut InstallPlanStatus,
    value: &str,
    reason: Option<&str>,
    message: Option<String>,
    now: Timestamp,
) {
    let position = status
        .conditions
        .iter()
        .position(|condition| condition.type_.as_deref() == Some(INSTALLED));
    let old = position.and_then(|position| status.conditions.get(position)).cloned();
    let mut new = InstallPlanCondition {
        type_: Some(INSTALLED.to_owned()),
        status: Some(value.to_owned()),
        reason: reason.map(str::to_owned),
        message,
        ..old.clone().unwrap_or_default()
    };
    if old.as_ref() == Some(&new) {
        return;
    }
    new.last_update_time = Some(Time(now));
    if old.is_none_or(|old| old.status != new.status) {
        new.last_transition_time = Some(Time(now));
    }
    match position.and_then(|position| status.conditions.get_mut(position)) {
        Some(condition) => *condition = new,
        None => status.conditions.push(new),
    }
}

/// Time that passed; none for a start in the future.
fn since(start: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(start)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
