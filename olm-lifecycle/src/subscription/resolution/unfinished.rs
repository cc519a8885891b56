//! Subscriptions whose InstallPlan is not done.
//!
//! As soon as the CSV of a Subscription exists its next version may be planned, while CSVs that its plan brings along
//! are still to come. The plan of the next version would bring them once more, and one that waits for approval stays
//! as it is. So the next version is planned when they are there, or when the plan was tried for as long as newer
//! plans wait for it.

use std::time::Duration;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_types::api::{InstallPlan, InstallPlanPhase, Subscription};
use olm_types::reasons::install_plan::INSTALL_CHECK_FAILED;

use super::select::current;
use super::{Namespace, Selection};
use crate::install_plan::approval::planned_csvs;
use crate::install_plan::plan_order::rest;

/// An InstallPlan that is being executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Its name.
    pub plan: String,
    /// The CSVs that it brings and that are not there yet.
    pub to_come: Vec<String>,
    /// How long it is waited for at most.
    pub rest: Duration,
}

/// What is executed for one of the Subscriptions that a selection moves to their next version, for as long as it was
/// not tried for `limit`; of several the one that takes longest.
pub fn unfinished(
    namespace: &Namespace,
    selection: &Selection,
    limit: Duration,
    now: Timestamp,
) -> Option<Unfinished> {
    let all = namespace.subscriptions.iter();
    let moved = all.filter(|one| selection.updates.contains_key(&one.name_any()));
    let plans = moved.filter_map(|one| unfinished_of(namespace, one, limit, now));
    plans.max_by_key(|plan| plan.rest)
}

fn unfinished_of(
    namespace: &Namespace,
    subscription: &Subscription,
    limit: Duration,
    now: Timestamp,
) -> Option<Unfinished> {
    let plan = namespace.plan_of(subscription)?;
    if !is_executed(plan) || !namespace.csvs.contains_key(current(subscription)) {
        return None;
    }
    let all = planned_csvs(plan).into_iter();
    let to_come: Vec<String> =
        all.filter(|csv| !namespace.csvs.contains_key(*csv)).map(str::to_owned).collect();
    if to_come.is_empty() {
        return None;
    }
    Some(Unfinished { plan: plan.name_any(), to_come, rest: rest(plan, limit, now)? })
}

/// Whether what the plan still brings comes by itself.
fn is_executed(plan: &InstallPlan) -> bool {
    let conditions = plan.status.iter().flat_map(|status| &status.conditions);
    let mut reasons = conditions.filter_map(|condition| condition.reason.as_deref());
    plan.phase() == InstallPlanPhase::Installing
        && plan.metadata.deletion_timestamp.is_none()
        && !reasons.any(|reason| reason == INSTALL_CHECK_FAILED)
}
