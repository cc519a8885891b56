//! The writes that follow a solution (spec catalog-operator 2.3, steps 8 and 9).

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::api::{InstallPlan, SubscriptionState, SubscriptionStatus};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, RESOLUTION_FAILED, UPGRADE_BLOCKED,
};
use olm_types::reasons::subscription::CONSTRAINTS_NOT_SATISFIABLE;

use super::super::conditions;
use super::{Namespace, Selection, state, write};
use crate::install_plan::request::{PlanRequest, is_without_status};
use crate::writes::status_write;

/// Finishes the plan that was created (or found) for the request and points the Subscriptions that
/// follow it at it. The plan comes first, so that a Subscription never names an empty plan.
pub fn record(
    namespace: &Namespace,
    selection: &Selection,
    request: &PlanRequest,
    plan: &InstallPlan,
    now: Timestamp,
) -> Vec<Effect> {
    let status = is_without_status(plan)
        .then(|| InstallPlan { status: Some(request.status()), ..plan.clone() });
    let status = status.and_then(|wanted| status_write(plan, &wanted));
    status.into_iter().chain(subscriptions(namespace, selection, Some(plan), now)).collect()
}

/// Takes back what an earlier resolution complained about when there is nothing to install.
pub fn settle(namespace: &Namespace, selection: &Selection, now: Timestamp) -> Vec<Effect> {
    subscriptions(namespace, selection, None, now).collect()
}

fn subscriptions<'a>(
    namespace: &'a Namespace,
    selection: &'a Selection,
    plan: Option<&'a InstallPlan>,
    now: Timestamp,
) -> impl Iterator<Item = Effect> + 'a {
    namespace.subscriptions.iter().filter_map(move |subscription| {
        let before = subscription.status.clone().unwrap_or_default();
        let mut status = before.clone();
        conditions::remove(
            &mut status,
            &[BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED, RESOLUTION_FAILED],
        );
        tell_blocked(&mut status, selection.blocked.get(&subscription.name_any()));
        if let Some(csv) = selection.updates.get(&subscription.name_any()) {
            status.current_csv = Some(csv.clone());
            if let Some(plan) = plan {
                follow(&mut status, plan);
            }
        }
        let changed = status != before;
        changed
            .then(|| {
                write(subscription, SubscriptionStatus { last_updated: Some(Time(now)), ..status })
            })
            .flatten()
    })
}

/// That an upgrade is blocked is told beside v0's conditions, and taken back when it is not. An
/// equal condition stays as it is, with its times.
fn tell_blocked(status: &mut SubscriptionStatus, why: Option<&String>) {
    let Some(why) = why else { return conditions::remove(status, &[UPGRADE_BLOCKED]) };
    let told = conditions::holding(UPGRADE_BLOCKED, CONSTRAINTS_NOT_SATISFIABLE, Some(why.clone()));
    if conditions::get(status, UPGRADE_BLOCKED).is_none_or(|known| !conditions::same(known, &told))
    {
        conditions::set(status, told);
    }
}

fn follow(status: &mut SubscriptionStatus, plan: &InstallPlan) {
    state::point_at(status, plan);
    status.state = SubscriptionState::UpgradePending;
    status.install_plan_generation = plan.spec.generation;
}
