//! Old InstallPlans of a namespace (spec catalog-operator 4.2).
//!
//! v0 looks at ten plans in random order; here all are ordered, so one sweep ends the work. Where Subscriptions
//! have plans of their own, each keeps its newest ones, so that the plans of many do not push out each other.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_effect::{Action, Effect, Propagation};
use olm_types::api::{InstallPlan, Subscription};

use super::continuation::{owners, refers};
use crate::writes::target_of;

/// How many plans are kept: of a namespace in v0, otherwise of each Subscription.
pub const KEPT: usize = 5;

/// Deletions of all but the [`KEPT`] newest plans: those of the highest generations, among equals
/// the youngest.
pub fn surplus(plans: &[Arc<InstallPlan>]) -> Vec<Effect> {
    let oldest_first = oldest_first(plans);
    let count = plans.len().saturating_sub(KEPT);
    oldest_first.into_iter().take(count).map(|plan| delete(plan)).collect()
}

/// The same with plans for each of `subscriptions`, which are all of the namespace: a plan goes when all its
/// owners have [`KEPT`] newer ones. Plans without an owner among them are counted together. No plan goes that a
/// Subscription refers to, or that is open, unless what it is for follows newer plans.
pub fn surplus_of_each(
    plans: &[Arc<InstallPlan>],
    subscriptions: &[Arc<Subscription>],
) -> Vec<Effect> {
    let by_uid: BTreeMap<&str, &Arc<Subscription>> =
        subscriptions.iter().filter_map(|one| Some((one.metadata.uid.as_deref()?, one))).collect();
    let mut newer: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut surplus = Vec::new();
    for plan in oldest_first(plans).into_iter().rev() {
        let mut own: BTreeSet<Option<&str>> =
            owners(plan).filter(|uid| by_uid.contains_key(uid)).map(Some).collect();
        if own.is_empty() {
            own.insert(None);
        }
        let is_old = own.iter().all(|owner| newer.get(owner).is_some_and(|count| *count >= KEPT));
        own.iter().for_each(|owner| *newer.entry(*owner).or_default() += 1);
        let of_owners = own.iter().filter_map(|owner| by_uid.get(&(*owner)?).copied());
        let referred = subscriptions.iter().any(|one| refers(one, plan));
        let is_over = !plan.has_open_steps() || is_left(plan, of_owners);
        if is_old && is_over && !referred {
            surplus.push(delete(plan));
        }
    }
    surplus.reverse();
    surplus
}

fn oldest_first(plans: &[Arc<InstallPlan>]) -> Vec<&Arc<InstallPlan>> {
    let mut oldest_first: Vec<_> = plans.iter().collect();
    oldest_first.sort_by(|a, b| age(a, b));
    oldest_first
}

/// Whether it waits in vain: all whom it was made for follow newer plans, and it has not begun.
fn is_left<'a>(plan: &InstallPlan, owners: impl Iterator<Item = &'a Arc<Subscription>>) -> bool {
    let number = plan.spec.generation.unwrap_or_default();
    let has_moved_on = |one: &Arc<Subscription>| {
        let status = one.status.as_ref();
        let newest = status.and_then(|status| status.install_plan_generation);
        newest.is_some_and(|newest| newest > number)
    };
    let mut owners = owners.peekable();
    plan.waits_for_approval() && owners.peek().is_some() && owners.all(has_moved_on)
}

fn age(a: &InstallPlan, b: &InstallPlan) -> Ordering {
    let key = |plan: &InstallPlan| {
        let created = plan.metadata.creation_timestamp.as_ref().map(|time| time.0);
        (plan.spec.generation.unwrap_or_default(), created, plan.metadata.name.clone())
    };
    key(a).cmp(&key(b))
}

/// The deletion of this very plan.
pub(super) fn delete(plan: &InstallPlan) -> Effect {
    let uid = plan.metadata.uid.clone();
    Effect::new(
        target_of(plan),
        Action::Delete { uid, propagation: Propagation::Background, grace_seconds: None },
    )
}

#[cfg(test)]
mod tests;
