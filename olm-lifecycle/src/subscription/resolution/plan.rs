//! The InstallPlan that a selection asks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::api::{Approval, Step, Subscription};

use super::{Namespace, Selection};
use crate::install_plan::components::key_of;
use crate::install_plan::request::PlanRequest;
use crate::install_plan::steps::{self, BundleError, BundleInput};
use crate::subscription::policy;
use crate::unpack::Unpacked;

/// The plan for a selection, whose inline bundles are in `bundles` and whose images were unpacked
/// into `unpacked`. Nothing when no Subscription would follow it: then v0 makes no plan either.
///
/// Steps of unpacked bundles come after all others, each bundle by itself, as in v0. One Subscription with manual
/// approval makes the plan of the whole namespace manual, unless pins approve it.
pub fn plan(
    namespace: &Namespace,
    selection: &Selection,
    bundles: &[BundleInput],
    unpacked: &[Unpacked],
) -> Result<Option<PlanRequest>, BundleError> {
    if selection.updates.is_empty() {
        return Ok(None);
    }
    let mut all: Vec<Step> = Vec::new();
    for (before, bundle) in bundles.iter().enumerate() {
        all.extend(steps::bundle_steps(bundle, &namespace.name)?);
        steps::check_plan(&all, before + 1)?;
    }
    for dependency in &selection.dependencies {
        all.push(steps::subscription_step(dependency, &namespace.name)?);
    }
    let mut steps = steps::order(all);
    for (before, bundle) in unpacked.iter().enumerate() {
        steps.extend(bundle.steps(&namespace.name)?);
        steps::check_plan(&steps, bundles.len() + before + 1)?;
    }
    let mut request = PlanRequest {
        namespace: namespace.name.clone(),
        generation: next_generation(namespace),
        approval: approval(namespace, selection),
        steps,
        lookups: unpacked.iter().map(|bundle| bundle.lookup.clone()).collect(),
        owners: namespace.subscriptions.clone(),
    };
    if let Some(unfinished) = request.existing(&namespace.plans) {
        request.generation = unfinished.spec.generation.unwrap_or(request.generation);
    }
    Ok(Some(request).filter(|request| !request.is_empty()))
}

/// The labels of the plan for a selection: it is a component of the Operators of those Subscriptions
/// that will follow it (spec olm-operator 6.2).
pub fn plan_labels(
    namespace: &Namespace,
    selection: &Selection,
) -> Option<BTreeMap<String, String>> {
    let following = namespace.subscriptions.iter();
    let following = following.filter(|one| selection.updates.contains_key(&one.name_any()));
    let keys = following.filter_map(|one| key_of(&one.spec.name, &namespace.name));
    let labels: BTreeMap<_, _> = keys.map(|key| (key, String::new())).collect();
    (!labels.is_empty()).then_some(labels)
}

fn next_generation(namespace: &Namespace) -> i64 {
    let recorded =
        namespace.subscriptions.iter().filter_map(|subscription| subscription.status.as_ref());
    let recorded = recorded.filter_map(|status| status.install_plan_generation);
    let existing = namespace.plans.iter().filter_map(|plan| plan.spec.generation);
    recorded.chain(existing).max().unwrap_or_default().saturating_add(1)
}

/// Where all Subscriptions that the plan moves are pinned, it leads to what they name, and their pins
/// approve it; otherwise one Subscription with manual approval is enough.
fn approval(namespace: &Namespace, selection: &Selection) -> Approval {
    let mut subscriptions = namespace.subscriptions.iter();
    let moved = |one: &&Arc<Subscription>| selection.updates.contains_key(&one.name_any());
    let is_manual = |one: &Arc<Subscription>| policy::approval(one) == Approval::Manual;
    let all_pinned = subscriptions.clone().filter(moved).all(|one| policy::pinned(one).is_some());
    match subscriptions.any(is_manual) && !all_pinned {
        true => Approval::Manual,
        false => Approval::Automatic,
    }
}
