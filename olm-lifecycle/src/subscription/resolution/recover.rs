//! Plans that were made for a Subscription which does not know it.
//!
//! The writes that record a new plan on its Subscriptions come after the plan itself. When the
//! process ends in between, the plan runs, and without this a second plan would be made, or the
//! installed CSV would stand in the way of its own Subscription.

use std::sync::Arc;

use olm_types::api::{InstallPlan, Step, Subscription, SubscriptionState, SubscriptionStatus};
use olm_types::owner::is_owned_by_uid;

use super::decision::is_released;
use super::{Namespace, state};
use crate::install_plan::package;

/// Points the status at the newest plan that was made for the Subscription and is not recorded.
pub(super) fn link_unrecorded_plan(
    namespace: &Namespace,
    subscription: &Subscription,
    status: &mut SubscriptionStatus,
) {
    let Some(uid) = subscription.metadata.uid.as_deref() else { return };
    let recorded = status.install_plan_generation.unwrap_or_default();
    let newer = namespace.plans.iter().filter(|plan| {
        plan.spec.generation.unwrap_or_default() > recorded && is_owned_by_uid(&plan.metadata, uid)
    });
    // One that takes the place of a plan which is not tried again may bring the same.
    let is_anew = namespace.plan_of(subscription).is_some_and(|plan| is_released(namespace, plan));
    let current = status.current_csv.as_deref().filter(|_| !is_anew).unwrap_or_default();
    let made_for = newer.filter_map(|plan| Some((plan, csv_for(plan, subscription, current)?)));
    let Some((plan, csv)) = made_for.max_by_key(|(plan, _)| plan.spec.generation) else { return };
    state::point_at(status, plan);
    status.install_plan_generation = plan.spec.generation;
    status.current_csv = Some(csv);
    status.state = SubscriptionState::UpgradePending;
}

/// The CSV that the plan installs for the Subscription, unless it moves to that CSV already.
fn csv_for(plan: &Arc<InstallPlan>, subscription: &Subscription, current: &str) -> Option<String> {
    let steps = plan.status.as_ref()?.plan.iter();
    let spec = &subscription.spec;
    let mut candidates = steps.filter(|step| {
        let resource = &step.resource;
        resource.kind == "ClusterServiceVersion"
            && resource.name != current
            && resource.source_name == spec.source
            && resource.source_namespace == spec.source_namespace
    });
    candidates.find(|step| is_of_package(step, &spec.name)).map(|step| step.resource.name.clone())
}

/// Whether the CSV's own properties name the package. The cheap look at the text spares most CSVs
/// the parser.
fn is_of_package(step: &Step, package: &str) -> bool {
    let manifest = step.resource.manifest.as_deref().unwrap_or_default();
    manifest.contains(package) && package::all_of_step(step).iter().any(|named| named == package)
}
