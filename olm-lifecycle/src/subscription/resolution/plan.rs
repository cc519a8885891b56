//! The InstallPlan that a selection asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::api::{Approval, Step, Subscription};

use super::approvers::{BundleRequesters, RequestersByCsv, approvers, asking, holds};
use super::parts::asks;
use super::select::current;
use super::{Namespace, Selection};
use crate::install_plan::components::key_of;
use crate::install_plan::request::PlanRequest;
use crate::install_plan::requesters::Requesters;
use crate::install_plan::steps::{self, BundleError, BundleInput};
use crate::subscription::policy;
use crate::unpack::Unpacked;

/// The plan for a selection, whose inline bundles are in `bundles` and whose images were unpacked
/// into `unpacked`. Nothing when no Subscription would follow it: then v0 makes no plan either.
///
/// `namespace` has all Subscriptions, also those that get nothing: they may have to be asked.
///
/// Steps of unpacked bundles come after all others, each bundle by itself, as in v0.
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
        owners: owners(namespace, selection),
        present: uids(namespace),
        asked: asked(namespace, selection),
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

/// Those who ask for something in the plan; in v0 all Subscriptions of the namespace.
fn owners(namespace: &Namespace, selection: &Selection) -> Vec<Arc<Subscription>> {
    match &selection.asks {
        Some(asks) => asking(namespace, asks),
        None => namespace.subscriptions.clone(),
    }
}

fn uids(namespace: &Namespace) -> Vec<String> {
    let uids = namespace.subscriptions.iter().map(|one| one.metadata.uid.clone());
    uids.map(Option::unwrap_or_default).collect()
}

/// Who asks for what, where several do.
fn asked(namespace: &Namespace, selection: &Selection) -> Option<Requesters> {
    let asks = selection.asks.as_ref()?;
    let csvs = asks.iter().map(|(csv, ask)| (csv.clone(), ask.by.clone()));
    let approval = approvers(namespace, asks);
    let asked = Requesters { csvs: csvs.collect(), approval, pins: pins(namespace, asks) };
    let everyone: BTreeSet<&String> = asked.csvs.values().flatten().collect();
    (everyone.len() > 1).then_some(asked)
}

/// What those are pinned to that follow the plan: it was made to lead there.
fn pins(namespace: &Namespace, asks: &RequestersByCsv) -> BTreeMap<String, String> {
    let followers: BTreeSet<&String> = asks.values().flat_map(|ask| &ask.followers).collect();
    let moved = namespace.subscriptions.iter().map(|one| (one.name_any(), one));
    let moved = moved.filter(|(name, _)| followers.contains(name));
    moved.filter_map(|(name, one)| Some((name, policy::pinned(one)?.to_owned()))).collect()
}

/// Manual when someone who needs what the plan brings has to be asked. In v0, where the plan is one for all,
/// one Subscription with manual approval is enough, unless all that the plan moves are pinned: then it leads
/// to what they name.
pub fn approval(namespace: &Namespace, selection: &Selection) -> Approval {
    let is_manual = match &selection.asks {
        Some(asks) => !approvers(namespace, asks).is_empty(),
        None => is_manual_for_all(namespace, selection),
    };
    if is_manual { Approval::Manual } else { Approval::Automatic }
}

fn is_manual_for_all(namespace: &Namespace, selection: &Selection) -> bool {
    let images = selection.images.iter().map(|(choice, _)| choice);
    let asks: RequestersByCsv =
        selection.inline.iter().chain(images).map(|choice| asks(namespace, choice)).collect();
    // What waits for approval in another plan is brought by this one as well.
    let moved = |one: &&Arc<Subscription>| {
        selection.updates.contains_key(&one.name_any()) || asks.contains_key(current(one))
    };
    // A pin approves what leads to its version, and no upgrade of what its operator needs later.
    let is_manual = |one: &Arc<Subscription>| match moved(&one) {
        true => policy::approval(one) == Approval::Manual,
        false => one.spec.install_plan_approval == Some(Approval::Manual),
    };
    // One that is paused is asked as before, and about what was installed on its behalf.
    let needs = |one: &Subscription, ask: &BundleRequesters| {
        ask.by.contains(&one.name_any()) && holds(namespace, one, ask)
    };
    let is_asked = |one: &Arc<Subscription>| {
        one.spec.install_plan_approval == Some(Approval::Manual)
            || asks.values().any(|ask| needs(one, ask))
    };
    let all = &namespace.subscriptions;
    let all_pinned = all.iter().filter(&moved).all(|one| policy::pinned(one).is_some());
    (all.iter().any(is_manual) || namespace.held.iter().any(is_asked)) && !all_pinned
}
