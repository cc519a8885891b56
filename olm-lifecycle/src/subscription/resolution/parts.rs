//! Which bundles of a solution get an InstallPlan of their own.
//!
//! In v0 all Subscriptions of a namespace share each plan, so one that wants to be asked holds all others. Here
//! Subscriptions that have no operator in common get plans of their own: each is made, approved, executed
//! and collected as if the others were in another namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::annotations::PIN;
use olm_types::api::{InstallPlan, InstallPlanPhase, Subscription};

use super::approvers::{BundleRequesters, RequestersByCsv, approvers};
use super::decision::{is_released, waits_for_its_plan};
use super::select::{Selection, current, matches, select};
use super::{Choice, Namespace};
use crate::install_plan::approval::{planned_csvs, versions};
use crate::install_plan::requesters::Requesters;

/// What one InstallPlan is made of.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The namespace with the Subscriptions that follow what is installed.
    pub namespace: Namespace,
    /// What is installed. Nothing for Subscriptions that have what they ask for.
    pub selection: Selection,
}

impl Part {
    /// Everything in one, as in v0.
    pub fn whole(namespace: &Namespace, choices: &[Choice]) -> Self {
        let mut selection = select(namespace, choices);
        follow_pins(namespace, choices, &mut selection);
        follow_without(namespace, namespace, choices, &mut selection);
        Self { selection, namespace: namespace.clone() }
    }
}

/// The parts of a solution; the last one has the Subscriptions for which there is nothing to do. `namespace`
/// has all Subscriptions, `able` those of them that the solution is for.
pub fn parts(namespace: &Namespace, able: &Namespace, choices: &[Choice]) -> Vec<Part> {
    let mut by_number: BTreeMap<usize, Vec<Choice>> = BTreeMap::new();
    for choice in choices {
        by_number.entry(choice.part).or_default().push(choice.clone());
    }
    let found = by_number.into_values().filter_map(|own| part(namespace, able, &own));
    let mut parts: Vec<Part> = found.collect();
    let busy: BTreeSet<String> = parts.iter().flat_map(|part| part.namespace.names()).collect();
    let rest = able.without(&busy);
    if !rest.subscriptions.is_empty() {
        parts.push(Part { namespace: rest, selection: Selection::default() });
    }
    parts
}

/// Nothing where no Subscription would follow, or all wait for the plan that they have.
fn part(namespace: &Namespace, able: &Namespace, choices: &[Choice]) -> Option<Part> {
    let asks: RequestersByCsv = choices.iter().map(|choice| asks(able, choice)).collect();
    let followers = asks.values().flat_map(|ask| &ask.followers).cloned().collect();
    let own = able.only(&followers);
    if own.subscriptions.iter().all(|one| waits_for_its_plan(namespace, one)) {
        return None;
    }
    let mut selection = Selection { asks: Some(asks), ..select(&own, choices) };
    follow_pins(&own, choices, &mut selection);
    follow_anew(namespace, &own, choices, &mut selection);
    follow_without(namespace, &own, choices, &mut selection);
    Some(Part { namespace: own, selection })
}

/// Who asks for a bundle, by the name of its CSV.
pub(super) fn asks(able: &Namespace, choice: &Choice) -> (String, BundleRequesters) {
    let followers = able.subscriptions.iter().filter(|one| matches(one, &choice.entry));
    let followers: BTreeSet<String> = followers.map(|one| one.name_any()).collect();
    let by = choice.needed_by.iter().chain(&followers).cloned().collect();
    (choice.entry.name.to_string(), BundleRequesters { by, followers })
}

/// Subscriptions whose plan was made without their pin, and is held by it, follow one that is made for the pin.
fn follow_pins(own: &Namespace, choices: &[Choice], selection: &mut Selection) {
    let all: BTreeSet<&str> = choices.iter().map(|choice| &*choice.entry.name).collect();
    let is_held = |one: &&Arc<Subscription>| {
        let plan = own.plan_of(one).filter(|plan| is_to_begin(plan));
        let hold = plan.and_then(|plan| versions::hold(one, one.status.as_ref(), plan));
        hold.is_some_and(|hold| hold.key == PIN)
    };
    let held = own.subscriptions.iter().filter(is_held);
    let moved: Vec<_> = held.filter_map(|one| Some((one.name_any(), moves(one, &all)?))).collect();
    selection.updates.extend(moved);
}

/// Whether the plan has not begun, approved or not.
fn is_to_begin(plan: &InstallPlan) -> bool {
    plan.phase() == InstallPlanPhase::RequiresApproval
}

/// Subscriptions that wait for the approval of another plan follow the one of this part: when it is made for
/// others as well, when theirs brings something else, or when others have to be asked than were.
fn follow_anew(
    namespace: &Namespace,
    own: &Namespace,
    choices: &[Choice],
    selection: &mut Selection,
) {
    let all: BTreeSet<&str> = choices.iter().map(|choice| &*choice.entry.name).collect();
    let asks = selection.asks.as_ref();
    let needed = asks.map(|asks| approvers(namespace, asks)).unwrap_or_default();
    let is_asked_otherwise = |asked: Requesters| needed.is_empty() || needed != asked.approval;
    let differs = |plan: &InstallPlan| {
        let open = planned_csvs(plan).into_iter().filter(|csv| !namespace.csvs.contains_key(*csv));
        open.collect::<BTreeSet<_>>() != all || Requesters::of(plan).is_some_and(is_asked_otherwise)
    };
    let is_new = !selection.updates.is_empty();
    let waiting = own.subscriptions.iter().filter(|one| {
        let plan = own.plan_of(one).filter(|plan| plan.waits_for_approval());
        plan.is_some_and(|plan| is_new || differs(plan))
    });
    let moved: Vec<_> =
        waiting.filter_map(|one| Some((one.name_any(), moves(one, &all)?))).collect();
    selection.updates.extend(moved);
}

/// Subscriptions whose plan has failed, and is not tried again on account of another one, follow the plan of this part,
/// which is made without what that one does not accept.
fn follow_without(
    namespace: &Namespace,
    own: &Namespace,
    choices: &[Choice],
    selection: &mut Selection,
) {
    let all: BTreeSet<&str> = choices.iter().map(|choice| &*choice.entry.name).collect();
    let is_left = |one: &&Arc<Subscription>| {
        own.plan_of(one).is_some_and(|plan| is_released(namespace, plan))
    };
    let left = own.subscriptions.iter().filter(is_left);
    let moved: Vec<_> = left.filter_map(|one| Some((one.name_any(), moves(one, &all)?))).collect();
    selection.updates.extend(moved);
}

/// The CSV of the part that the Subscription moves to already.
fn moves(subscription: &Arc<Subscription>, all: &BTreeSet<&str>) -> Option<String> {
    let csv = current(subscription);
    all.contains(csv).then(|| csv.to_owned())
}
