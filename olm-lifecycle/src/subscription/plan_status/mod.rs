//! What a Subscription says about its InstallPlan (spec catalog-operator 2.2, installPlanReconciler).

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{
    BundleLookup, InstallPlan, InstallPlanPhase, InstallPlanStatus, Subscription,
    SubscriptionCondition, SubscriptionState, SubscriptionStatus,
};
use olm_types::conditions::bundle_lookup;
use olm_types::conditions::install_plan::INSTALLED;
use olm_types::conditions::subscription::{
    INSTALL_PLAN_FAILED, INSTALL_PLAN_MISSING, INSTALL_PLAN_PENDING,
};
use olm_types::reasons::subscription as reasons;

use super::{conditions, held};

/// The plan that a Subscription names.
#[derive(Clone, Debug)]
pub enum ReferencedPlan {
    /// It names none.
    None,
    /// It names one that does not exist.
    Missing,
    /// It names this one.
    Found(Arc<InstallPlan>),
}

/// The status of a Subscription with its conditions about the plan up to date; nothing when they are already.
pub fn reconcile(
    status: &SubscriptionStatus,
    subscription: &Subscription,
    plan: &ReferencedPlan,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let mut wanted = match plan {
        ReferencedPlan::None => return None,
        ReferencedPlan::Missing => without_plan(status, now),
        ReferencedPlan::Found(plan) => with_plan(status, subscription, plan, now),
    };
    if conditions::all_same(&status.conditions, &wanted.conditions) {
        // Times of conditions that say the same stay.
        wanted.conditions.clone_from(&status.conditions);
    }
    (wanted != *status).then_some(SubscriptionStatus { last_updated: Some(Time(now)), ..wanted })
}

/// The conditions of a status that begins to follow this plan, as [`reconcile`] would make them at the next look.
pub(super) fn conditions_with(
    status: &SubscriptionStatus,
    subscription: &Subscription,
    plan: &InstallPlan,
    now: Timestamp,
) -> Vec<SubscriptionCondition> {
    let wanted = with_plan(status, subscription, plan, now).conditions;
    let is_same = conditions::all_same(&status.conditions, &wanted);
    if is_same { status.conditions.clone() } else { wanted }
}

/// A plan that was deleted before it was done is forgotten, so that a new one is made.
///
/// v0 does that only when a Pending or Failed condition goes with it; without one it would wait
/// for ever.
fn without_plan(status: &SubscriptionStatus, now: Timestamp) -> SubscriptionStatus {
    let mut wanted = status.clone();
    conditions::remove(&mut wanted, &[INSTALL_PLAN_PENDING, INSTALL_PLAN_FAILED]);
    if wanted.state == SubscriptionState::UpgradePending {
        wanted.install_plan_ref = None;
        wanted.installplan = None;
        wanted.current_csv = None;
        wanted.state = SubscriptionState::None;
    } else {
        let message = conditions::get(status, INSTALL_PLAN_MISSING)
            .and_then(|condition| condition.message.clone());
        let missing = conditions::holding(
            INSTALL_PLAN_MISSING,
            reasons::REFERENCED_INSTALL_PLAN_NOT_FOUND,
            message,
        );
        conditions::set(&mut wanted, timed(missing, now));
    }
    wanted
}

/// An upgrade that the Subscription holds back itself is not pending.
fn with_plan(
    status: &SubscriptionStatus,
    subscription: &Subscription,
    plan: &InstallPlan,
    now: Timestamp,
) -> SubscriptionStatus {
    let mut wanted = status.clone();
    wanted.state = held::state(subscription, status, plan);
    conditions::remove(
        &mut wanted,
        &[INSTALL_PLAN_MISSING, INSTALL_PLAN_PENDING, INSTALL_PLAN_FAILED],
    );
    let condition = match &plan.status {
        _ if held::holding(subscription, status, plan).is_some() => None,
        None => Some(conditions::holding(
            INSTALL_PLAN_PENDING,
            reasons::INSTALL_PLAN_NOT_YET_RECONCILED,
            None,
        )),
        Some(plan) => of_phase(plan),
    };
    if let Some(condition) = condition {
        conditions::set(&mut wanted, timed(condition, now));
    }
    wanted
}

fn of_phase(plan: &InstallPlanStatus) -> Option<SubscriptionCondition> {
    let (kind, reason) = match plan.phase {
        InstallPlanPhase::None => (INSTALL_PLAN_PENDING, reasons::INSTALL_PLAN_NOT_YET_RECONCILED),
        InstallPlanPhase::Planning
        | InstallPlanPhase::Installing
        | InstallPlanPhase::RequiresApproval => (INSTALL_PLAN_PENDING, plan.phase.as_str()),
        InstallPlanPhase::Failed => (INSTALL_PLAN_FAILED, failure_reason(plan)),
        InstallPlanPhase::Complete => return None,
    };
    Some(conditions::holding(kind, reason, message(plan)))
}

/// The reason that a failed plan gives.
pub(super) fn failure_reason(plan: &InstallPlanStatus) -> &str {
    let installed =
        plan.conditions.iter().find(|condition| condition.type_.as_deref() == Some(INSTALLED));
    let failed = installed.filter(|condition| condition.status.as_deref() == Some("False"));
    failed.and_then(|condition| condition.reason.as_deref()).unwrap_or(reasons::INSTALL_PLAN_FAILED)
}

/// The plan's own message, or what its bundle lookups wait for.
pub(super) fn message(plan: &InstallPlanStatus) -> Option<String> {
    let installed =
        plan.conditions.iter().find(|condition| condition.type_.as_deref() == Some(INSTALLED));
    let own = installed
        .and_then(|condition| condition.message.clone())
        .filter(|message| !message.is_empty());
    own.or_else(|| {
        let waiting: Vec<_> = plan.bundle_lookups.iter().filter_map(pending_message).collect();
        (!waiting.is_empty()).then(|| waiting.join(" "))
    })
}

fn pending_message(lookup: &BundleLookup) -> Option<String> {
    let pending =
        lookup.conditions.iter().find(|condition| condition.type_ == bundle_lookup::PENDING)?;
    let message = pending.message.as_deref().filter(|message| !message.is_empty())?;
    Some(format!("{message}."))
}

fn timed(condition: SubscriptionCondition, now: Timestamp) -> SubscriptionCondition {
    SubscriptionCondition { last_transition_time: Some(Time(now)), ..condition }
}

#[cfg(test)]
mod tests;
