//! The writes that follow a solution (spec catalog-operator 2.3, steps 8 and 9).

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::api::{InstallPlan, SubscriptionState, SubscriptionStatus};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, RESOLUTION_FAILED,
};

use super::super::{conditions, plan_status};
use super::{Namespace, Selection, Spec, kept_back, state, write};
use crate::install_plan::approval::begins_to_wait;
use crate::install_plan::request::{PlanRequest, is_without_status};
use crate::tenancy::Attestor;
use crate::writes::status_write;

/// Finishes the plan that was created (or found) for the request and points the Subscriptions that
/// follow it at it. The plan comes first, so that a Subscription never names an empty plan.
pub fn record(
    namespace: &Namespace,
    selection: &Selection,
    request: &PlanRequest,
    plan: &InstallPlan,
    attestor: &Attestor,
    now: Timestamp,
) -> Vec<Effect> {
    let finished = is_without_status(plan).then(|| {
        let status = attestor.sign(plan, request.status(), now);
        InstallPlan { status: Some(status), ..plan.clone() }
    });
    let status = finished.as_ref().and_then(|wanted| status_write(plan, wanted));
    let asking = request.owners.iter().map(AsRef::as_ref);
    let waits = finished.as_ref().and_then(|plan| begins_to_wait(plan, asking));
    let followers =
        subscriptions(namespace, selection, Some(finished.as_ref().unwrap_or(plan)), now);
    status.into_iter().chain(followers).chain(waits).collect()
}

/// Removes the failures that an earlier resolution reported, when there is nothing to install.
pub fn clear_failures(namespace: &Namespace, selection: &Selection, now: Timestamp) -> Vec<Effect> {
    subscriptions(namespace, selection, None, now).collect()
}

fn subscriptions<'a>(
    namespace: &'a Namespace,
    selection: &'a Selection,
    plan: Option<&'a InstallPlan>,
    now: Timestamp,
) -> impl Iterator<Item = Effect> + 'a {
    namespace.subscriptions.iter().filter_map(move |subscription| {
        let mut status = subscription.status.clone().unwrap_or_default();
        conditions::remove(
            &mut status,
            &[BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED, RESOLUTION_FAILED],
        );
        kept_back::report(&mut status, subscription, &selection.kept_back);
        let next = selection.updates.get(&subscription.name_any());
        if let Some(csv) = next {
            status.current_csv = Some(csv.clone());
            if let Some(plan) = plan {
                follow(&mut status, plan);
                // Said at once, the next look at the Subscription has nothing to add.
                status.conditions = plan_status::conditions_with(&status, subscription, plan, now);
            }
        }
        write(namespace, subscription, status, plan.filter(|_| next.is_some()), Spec::Resolved, now)
    })
}

fn follow(status: &mut SubscriptionStatus, plan: &InstallPlan) {
    state::point_at(status, plan);
    status.state = SubscriptionState::UpgradePending;
    status.install_plan_generation = plan.spec.generation;
}
