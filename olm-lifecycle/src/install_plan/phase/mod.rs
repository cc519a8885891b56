//! The phases of an InstallPlan (spec catalog-operator 4.3).
//!
//! `RequiresApproval -> Installing -> Complete | Failed`. While it is Installing, a failing step is
//! tried again for a minute, without limit when the API server forbids it to OLM's own account. A plan
//! that failed because the account of its group lacks a right, or because a copy has the name of its CSV, is
//! tried again while it is Failed.

mod conclusion;
mod status;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::api::{InstallPlan, InstallPlanPhase, InstallPlanStatus, OperatorGroup};
use olm_types::reasons::{event, install_plan as reasons};

use super::approval::{Declared, is_about_approval};
use super::continuation::{PlanDecision, Surroundings, judge};
use super::execution::{Execution, Scope, is_about_a_copy};
use super::request::{is_without_status, made_by_user};
use super::requesters::Requesters;
use super::{approval, collect, components, plan_order, report, stale, superseded};
use crate::crd::CrdOwner;
use crate::operator_group::attenuation;
use crate::tenancy::StepTrust;
#[cfg(test)]
pub(crate) use conclusion::API_POLL;
pub use conclusion::{Conclusion, FIRST_RETRY, RETRY, conclude, interrupt};
use status::{reset, set_installed, status_effects};

/// Age from which a plan is withdrawn.
const WITHDRAWN_FROM: Duration = Duration::from_secs(5);

/// What is known about a plan.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The plan.
    pub plan: Arc<InstallPlan>,
    /// All plans of its namespace.
    pub siblings: Vec<Arc<InstallPlan>>,
    /// Whom it was made for, and what became of that.
    pub around: Surroundings,
    /// OperatorGroups of its namespace that are not being deleted.
    pub groups: Vec<Arc<OperatorGroup>>,
    /// `(namespace, name)` of every CSV that is not a copy.
    pub csvs: BTreeSet<(String, String)>,
    /// CSVs that are gone from its namespace, and that one which is there replaces.
    pub replaced: BTreeSet<String>,
    /// CSVs that own a CRD, by name of the CRD.
    pub crd_owners: BTreeMap<String, BTreeSet<CrdOwner>>,
    /// Names of CRDs of the plan that it must not change, because an operator of a namespace that an
    /// administrator trusts owns them, and its own namespace is none.
    pub guarded: BTreeSet<String>,
    /// Whether rights or accounts of the namespace changed since the plan was looked at last.
    pub rights_changed: bool,
    /// Namespace of the operator itself.
    pub operator_namespace: String,
    /// How long a failing step is tried again (`--install-plan-retry-timeout`).
    pub retry_timeout: Duration,
    /// Which of its steps OLM's own rights may serve.
    pub trust: StepTrust,
    /// Whether no version of a CRD in which objects may be stored is retired.
    pub keeps_stored_versions: bool,
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
    /// An older plan goes first: say so, and look again when that is done. Or nothing of it is asked for now.
    Wait {
        /// The writes; none when the status says it already.
        effects: Vec<Effect>,
        /// When to look again at the latest.
        rest: Duration,
    },
    /// Execute its steps, then ask [`conclude`].
    Execute(Box<Execution>),
}

/// Decides what to do with a plan now.
pub fn decide(observed: &Observed, now: Timestamp) -> Decision {
    let Some(status) = observed.plan.status.as_ref().filter(|_| !is_without_status(&observed.plan))
    else {
        return if made_by_user(&observed.plan) { Decision::Resolve } else { Decision::Nothing };
    };
    match status.phase {
        InstallPlanPhase::Failed => failed(observed, status, now),
        InstallPlanPhase::Complete => Decision::Nothing,
        InstallPlanPhase::None
        | InstallPlanPhase::Planning
        | InstallPlanPhase::RequiresApproval
        | InstallPlanPhase::Installing => judged(observed, status, now),
    }
}

/// A plan that would be executed is judged first. One that is not approved yet does nothing.
fn judged(observed: &Observed, status: &InstallPlanStatus, now: Timestamp) -> Decision {
    let executed = status.phase == InstallPlanPhase::Installing || observed.plan.spec.approved;
    let verdict = match executed {
        true => judge(&observed.plan, &observed.around),
        false => PlanDecision::Go(BTreeSet::new()),
    };
    match verdict {
        PlanDecision::Go(without) => go_on(observed, status, &without, now),
        PlanDecision::Over => Decision::Nothing,
        PlanDecision::Held(why) => check_failed(observed, why.clone(), why, now),
        PlanDecision::Withdrawn(why) => withdraw(observed, why, now),
    }
}

/// Deletes a plan that no Subscription asks for any more. A young one is looked at again first: the Subscription that it
/// was made for may not say so yet, and a plan that is deleted at once is made again at once.
fn withdraw(observed: &Observed, why: String, now: Timestamp) -> Decision {
    let plan = &observed.plan;
    if let Some(rest) = until_withdrawn(plan, now) {
        return Decision::Wait { effects: Vec::new(), rest };
    }
    let message =
        format!("{why}: the InstallPlan was deleted, and what is still asked for is resolved anew");
    let reported = report::normal(plan, event::INSTALL_PLAN_WITHDRAWN, message);
    Decision::Write { effects: vec![collect::delete(plan), reported], problem: Some(why) }
}

/// How long a plan is too young to be withdrawn; nothing when it is old enough.
fn until_withdrawn(plan: &InstallPlan, now: Timestamp) -> Option<Duration> {
    let created = plan.metadata.creation_timestamp.as_ref()?.0;
    let age = Duration::try_from(now.duration_since(created)).unwrap_or_default();
    WITHDRAWN_FROM.checked_sub(age).filter(|rest| !rest.is_zero())
}

/// The next step of a plan that has not come to its end: with the account of its group, and only
/// while what it may use is known.
fn go_on(
    observed: &Observed,
    status: &InstallPlanStatus,
    without: &BTreeSet<String>,
    now: Timestamp,
) -> Decision {
    let namespace = observed.plan.namespace().unwrap_or_default();
    let account = match attenuation::account(&observed.groups, &namespace) {
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
    if account.is_none()
        && let Some(problem) = observed.trust.refusal(&status.plan, &namespace)
    {
        return check_failed(observed, problem.clone(), problem, now);
    }
    match status.phase {
        InstallPlanPhase::RequiresApproval if observed.plan.spec.approved => {
            approved(observed, status, now)
        }
        InstallPlanPhase::Installing | InstallPlanPhase::Failed => {
            execute(observed, status, without, account, now)
        }
        InstallPlanPhase::RequiresApproval => unapproved(observed, status, now),
        InstallPlanPhase::None | InstallPlanPhase::Planning | InstallPlanPhase::Complete => {
            Decision::Nothing
        }
    }
}

/// A plan that a user has not approved waits, unless its Subscriptions declare that they approve it.
fn unapproved(observed: &Observed, status: &InstallPlanStatus, now: Timestamp) -> Decision {
    let subscriptions = observed.around.subscriptions.iter().map(AsRef::as_ref);
    let message = match approval::declared(&observed.plan, subscriptions) {
        Declared::Approved(effect) => {
            let text = "annotations of its Subscriptions approve all that it brings".to_owned();
            let reported = report::normal(&observed.plan, event::INSTALL_PLAN_APPROVED, text);
            return Decision::Write { effects: vec![*effect, reported], problem: None };
        }
        Declared::Waiting(message) => Some(message),
        Declared::Nothing => match Requesters::of(&observed.plan) {
            Some(asked) => Some(asked.message()),
            None => status.message.clone().filter(|text| !is_about_approval(text)),
        },
    };
    write(observed, InstallPlanStatus { message, ..reset(status, now) }, None)
}

/// An approval counts for the plan that was looked at, and once no Subscription holds it back.
fn approved(observed: &Observed, status: &InstallPlanStatus, now: Timestamp) -> Decision {
    let subscriptions = observed.around.subscriptions.iter().map(AsRef::as_ref);
    if let Some(message) = approval::held(&observed.plan, subscriptions) {
        let message = Some(message);
        return write(observed, InstallPlanStatus { message, ..reset(status, now) }, None);
    }
    if let Some(problem) = stale::problem(&observed.plan) {
        return check_failed(observed, problem.clone(), problem, now);
    }
    let phase = InstallPlanPhase::Installing;
    let wanted = InstallPlanStatus { phase, message: None, ..reset(status, now) };
    write(observed, wanted, None)
}

/// A plan that failed over a copy, or for a right that its account lacked, is tried again at once and then every
/// [`RETRY`]; any other with an account when rights or accounts of its namespace change. Its start stays, so that
/// another failure is final at once. What a pin or a range does not accept any more is not tried, but may be later.
fn failed(observed: &Observed, status: &InstallPlanStatus, now: Timestamp) -> Decision {
    let has_account = status.attenuated_service_account_ref.is_some();
    let may_pass = met_a_copy(status) || has_account && lacks_rights(status);
    if !has_account && !may_pass {
        return Decision::Nothing;
    }
    let subscriptions = observed.around.subscriptions.iter().map(AsRef::as_ref);
    if approval::is_released(&observed.plan, subscriptions) {
        return Decision::Wait { effects: Vec::new(), rest: RETRY };
    }
    match judge(&observed.plan, &observed.around) {
        PlanDecision::Go(without) if may_pass => go_on(observed, status, &without, now),
        _ if has_account && observed.rights_changed => {
            let phase = InstallPlanPhase::Installing;
            write(observed, InstallPlanStatus { phase, ..status.clone() }, None)
        }
        _ => Decision::Nothing,
    }
}

fn met_a_copy(status: &InstallPlanStatus) -> bool {
    status.message.as_deref().is_some_and(is_about_a_copy)
}

/// Whether the API server forbade a step, in its own words. A status that claims so without reason
/// only leads to one more try.
fn lacks_rights(status: &InstallPlanStatus) -> bool {
    status.message.as_ref().is_some_and(|message| message.contains(" is forbidden: "))
}

/// A plan waits for older plans before it is executed, except for those that a Subscription holds back.
fn execute(
    observed: &Observed,
    status: &InstallPlanStatus,
    without: &BTreeSet<String>,
    account: Option<ObjectReference>,
    now: Timestamp,
) -> Decision {
    let others = observed.siblings.iter().filter(|one| !is_held(observed, one));
    let others = others.map(AsRef::as_ref);
    match plan_order::wait(&observed.plan, others, observed.retry_timeout, now) {
        Some(wait) => waiting(observed, status, &wait, now),
        None => Decision::Execute(Box::new(execution(observed, status, without, account))),
    }
}

fn is_held(observed: &Observed, plan: &InstallPlan) -> bool {
    let subscriptions = observed.around.subscriptions.iter().map(AsRef::as_ref);
    plan.phase() == InstallPlanPhase::RequiresApproval
        && approval::held(plan, subscriptions).is_some()
}

/// Says once which plan comes first.
fn waiting(
    observed: &Observed,
    status: &InstallPlanStatus,
    wait: &plan_order::Wait,
    now: Timestamp,
) -> Decision {
    let message = Some(wait.message()).filter(|_| status.start_time.is_none());
    let reported = message.is_none() || status.message == message;
    let message = message.or_else(|| status.message.clone());
    let mut effects = status_effects(observed, InstallPlanStatus { message, ..reset(status, now) });
    if !reported {
        let about = report::normal(&observed.plan, event::INSTALL_PLAN_WAITING, wait.message());
        effects.push(about);
    }
    Decision::Wait { effects, rest: wait.rest }
}

fn execution(
    observed: &Observed,
    status: &InstallPlanStatus,
    without: &BTreeSet<String>,
    account: Option<ObjectReference>,
) -> Execution {
    let namespace = observed.plan.namespace().unwrap_or_default();
    let scope = Scope {
        components: components::keys(&status.plan, &observed.around.subscriptions, &namespace),
        namespace,
        plan: observed.plan.name_any(),
        operator_namespace: observed.operator_namespace.clone(),
        identity: attenuation::identity(account),
        trust: observed.trust.clone(),
        csvs: observed.csvs.clone(),
        keeps_stored_versions: observed.keeps_stored_versions,
        crd_owners: observed.crd_owners.clone(),
        guarded: observed.guarded.clone(),
        wanted: observed.plan.spec.cluster_service_version_names.iter().cloned().collect(),
        ..Scope::default()
    };
    Execution::new(scope, superseded::skip(&status.plan, &observed.replaced, without))
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
