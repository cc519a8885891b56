//! Whether a Subscription's state says what is in the cluster (spec catalog-operator 2.3, step 4).

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::annotations::GENERATED_BY;
use olm_types::api::{
    InstallPlan, InstallPlanPhase, Subscription, SubscriptionState, SubscriptionStatus,
};

use super::super::{held, policy};
use super::{Namespace, recover};
use crate::install_plan::request::references;

/// The status as it should be before the namespace is resolved; nothing when it is that already.
///
/// v0 does not store what it works out for a generated Subscription, so that the namespace waits
/// until its CSV exists. Here it is stored, and the namespace goes on.
pub(super) fn up_to_date(
    namespace: &Namespace,
    subscription: &Subscription,
    fail_forward: bool,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let before = subscription.status.clone().unwrap_or_default();
    let mut status = before.clone();
    recover::link_unrecorded_plan(namespace, subscription, &mut status);
    link_generating_plan(namespace, subscription, &mut status, fail_forward);
    follow_csv(namespace, subscription, &mut status, fail_forward);
    (status != before).then_some(SubscriptionStatus { last_updated: Some(Time(now)), ..status })
}

/// A Subscription that a plan generated points at that plan.
fn link_generating_plan(
    namespace: &Namespace,
    subscription: &Subscription,
    status: &mut SubscriptionStatus,
    fail_forward: bool,
) {
    let generated_by =
        subscription.metadata.annotations.as_ref().and_then(|all| all.get(GENERATED_BY));
    let linked = status.install_plan_ref.is_some() || status.installplan.is_some();
    let Some(plan) = generated_by.filter(|_| !linked).and_then(|name| namespace.plan_named(name))
    else {
        return;
    };
    // A plan that was deleted in the meantime leaves the Subscription to an ordinary resolution.
    point_at(status, plan);
    status.state = pending_state(Some(plan), fail_forward);
    status.current_csv.clone_from(&subscription.spec.starting_csv);
}

/// The state follows from whether the CSV that is moved to exists, in whatever phase. While nothing new is applied,
/// that it appears is all that counts: a plan that has begun goes on.
fn follow_csv(
    namespace: &Namespace,
    subscription: &Subscription,
    status: &mut SubscriptionStatus,
    fail_forward: bool,
) {
    let Some(current) = status.current_csv.clone().filter(|name| !name.is_empty()) else { return };
    if namespace.csvs.contains_key(&current) {
        if status.state != SubscriptionState::AtLatestKnown
            || status.installed_csv.as_ref() != Some(&current)
        {
            status.state = SubscriptionState::AtLatestKnown;
            status.installed_csv = Some(current);
        }
    } else if !policy::is_held(subscription) {
        let name = status.install_plan_ref.as_ref().and_then(|plan| plan.name.as_deref());
        let plan = name.and_then(|name| namespace.plan_named(name));
        if plan.is_none_or(|plan| held::holding(subscription, status, plan).is_none()) {
            status.state = pending_state(plan, fail_forward);
        }
    }
}

fn pending_state(
    plan: Option<&std::sync::Arc<InstallPlan>>,
    fail_forward: bool,
) -> SubscriptionState {
    let has_failed = plan.is_some_and(|plan| plan.phase() == InstallPlanPhase::Failed);
    if fail_forward && has_failed {
        SubscriptionState::UpgradeFailed
    } else {
        SubscriptionState::UpgradePending
    }
}

/// Names the plan in both forms.
pub(super) fn point_at(status: &mut SubscriptionStatus, plan: &InstallPlan) {
    let (reference, older) = references(plan);
    status.install_plan_ref = Some(reference);
    status.installplan = Some(older);
}
