//! Approvals that Subscriptions declare.
//!
//! The annotation `olm-rs.dev/approve` of a Subscription names CSVs, separated by commas: an InstallPlan of
//! the Subscription that brings these and no others is approved, whenever it appears. So an approval can
//! be kept with the manifest of the Subscription, where v0 leaves it to whoever knows the generated name of
//! the plan. The plan records which Subscriptions approved it, with what value.
//!
//! A plan that brings what a Subscription does not accept now is not begun, approved or not ([`versions`]).

mod consent;
pub(crate) mod versions;

use std::collections::BTreeSet;

use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::{APPROVE, APPROVED_BY};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};
use olm_types::reasons::event::REQUIRES_APPROVAL;
use serde_json::{Value, json};

use super::continuation::owners;
use super::report;
use super::requesters::Requesters;
use crate::subscription::policy;
use crate::writes::target_of;

/// How messages begin that say for what an approval is missing.
pub(super) const WAITS: &str = "waits for approval";

/// Most CSVs that a message names.
const LISTED: usize = 10;

/// What the Subscriptions of a plan say about it.
#[derive(Debug, PartialEq)]
pub(super) enum Declared {
    /// None of them approves any CSV.
    Nothing,
    /// It brings what none of them approves, or one of them is malformed; in words for its status.
    Waiting(String),
    /// Everything that it brings is approved: the write that says so.
    Approved(Box<Effect>),
}

/// What the Subscriptions that a plan was made for declare about its approval. `subscriptions` are those
/// of its namespace.
pub(super) fn declared<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> Declared {
    let all: Vec<&Subscription> = subscriptions.into_iter().collect();
    if let Some(message) = held(plan, all.iter().copied()) {
        return Declared::Waiting(message);
    }
    let asking: Vec<_> = all.into_iter().filter(|one| asks_for(one, plan)).collect();
    if consent::is_first_install(plan, &asking) {
        let free: Vec<_> = asking.iter().map(|one| (*one, Vec::new())).collect();
        return Declared::Approved(Box::new(approve(plan, &free)));
    }
    let mut approving = Vec::new();
    for subscription in asking.iter().copied() {
        match policy::approved(subscription) {
            None => {}
            Some(Ok(names)) => approving.push((subscription, names)),
            Some(Err(problem)) => {
                let name = subscription.name_any();
                return Declared::Waiting(format!("{WAITS}: Subscription {name}: {problem}"));
            }
        }
    }
    if approving.is_empty() { Declared::Nothing } else { judge(plan, &asking, &approving) }
}

/// Whether annotations of the Subscriptions that a plan was made for approve it. `subscriptions` are those of its
/// namespace.
#[must_use]
pub fn is_declared<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> bool {
    matches!(declared(plan, subscriptions), Declared::Approved(_))
}

/// Why a plan is not begun even if it is approved: a Subscription is held that it was made for or whose package it
/// brings, or one of its namespace does not accept a version that it brings. `subscriptions` are those of its namespace. A plan that was
/// made by hand has none to ask.
pub(super) fn held<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> Option<String> {
    owners(plan).next()?;
    let mut staying = subscriptions.into_iter().filter(|one| stays(one));
    let why = staying.find_map(|one| Some((one.name_any(), why_held(one, plan)?)));
    why.map(|(name, why)| format!("{WAITS}: Subscription {name} {why}"))
}

/// Whether a plan that has failed is not to be tried again, as a Subscription does not accept any more what it brings
/// of its package, or gets another version from a newer plan. `subscriptions` are those of its namespace.
pub(crate) fn is_released<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> bool {
    let mut staying = subscriptions.into_iter().filter(|one| stays(one));
    owners(plan).next().is_some()
        && staying.any(|one| {
            versions::releases(one, one.status.as_ref(), plan).is_some()
                || versions::has_left(one, plan)
        })
}

/// Why a Subscription holds the plan back, in words that follow its name.
fn why_held(subscription: &Subscription, plan: &InstallPlan) -> Option<String> {
    let concerns = || asks_for(subscription, plan) || versions::moves(subscription, plan);
    if let Some(key) = policy::holding(subscription).filter(|_| concerns()) {
        let problem = policy::held_by_mistake(subscription);
        let helps = problem.unwrap_or_else(|| "nothing is begun until it is removed".to_owned());
        return Some(format!("has annotation {key}: {helps}"));
    }
    versions::hold(subscription, subscription.status.as_ref(), plan).map(|hold| hold.why)
}

/// The event that says that a plan begins to wait for approval, with the status that it gets; nothing
/// for one that needs none, or that `subscriptions`, those of its namespace, approve already.
pub(crate) fn begins_to_wait<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> Option<Effect> {
    if !plan.waits_for_approval() || is_declared(plan, subscriptions) {
        return None;
    }
    if let Some(asked) = Requesters::of(plan) {
        return Some(report::normal(plan, REQUIRES_APPROVAL, asked.message()));
    }
    let message = format!("{WAITS} to install {}", listed(planned_csvs(plan)));
    Some(report::normal(plan, REQUIRES_APPROVAL, message))
}

/// Whether a message is one of those that are made here.
pub(super) fn is_about_approval(message: &str) -> bool {
    message.starts_with(WAITS)
}

/// The plan as a whole has to be named, and what each of those that are asked needs by that one.
fn judge(
    plan: &InstallPlan,
    asking: &[&Subscription],
    approving: &[(&Subscription, Vec<&str>)],
) -> Declared {
    let planned_csvs = planned_csvs(plan);
    let approved: BTreeSet<&str> = approving.iter().flat_map(|(_, names)| names).copied().collect();
    let missing: Vec<_> = planned_csvs.difference(&approved).copied().collect();
    let is_named = approving.iter().any(|(one, _)| one.annotations().contains_key(APPROVE));
    let waits = match (
        missing.is_empty() && !planned_csvs.is_empty(),
        consent::missing(plan, asking),
    ) {
        (true, None) => return Declared::Approved(Box::new(approve(plan, approving))),
        (true, Some((name, csvs))) => format!(
            "Subscription {name} needs {} as well, and does not name it in its annotation {APPROVE}",
            listed(csvs)
        ),
        (false, _) if !is_named => format!(
            "it brings {}, and its Subscriptions are pinned to {}; approve the InstallPlan, or name all that it brings in \
             annotation {APPROVE}",
            listed(missing),
            listed(approved)
        ),
        (false, _) => format!(
            "no Subscription of the InstallPlan names {} in its annotation {APPROVE}",
            listed(missing)
        ),
    };
    Declared::Waiting(format!("{WAITS}: {waits}"))
}

/// Names in a message: a plan may have thousands.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let listed = names.by_ref().take(LISTED).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Every CSV that the plan would create, dependencies included.
pub(crate) fn planned_csvs(plan: &InstallPlan) -> BTreeSet<&str> {
    let status = plan.status.iter();
    let steps = status.clone().flat_map(|status| &status.plan).map(|step| &step.resource);
    let csvs = steps.filter(|resource| resource.kind == ClusterServiceVersion::KIND);
    let looked_up = status.flat_map(|status| &status.bundle_lookups);
    let named = plan.spec.cluster_service_version_names.iter().map(String::as_str);
    named
        .chain(csvs.map(|resource| resource.name.as_str()))
        .chain(looked_up.map(|lookup| lookup.identifier.as_str()))
        .collect()
}

/// The plan as it was looked at is approved; one that changed since is refused by its version.
fn approve(plan: &InstallPlan, approving: &[(&Subscription, Vec<&str>)]) -> Effect {
    let by: Vec<Value> = approving
        .iter()
        .map(|(subscription, _)| {
            json!({
                "subscription": subscription.name_any(),
                "approve": subscription.annotations().get(APPROVE),
                "pin": policy::pinned(subscription),
                "first-install": policy::is_first_install(subscription),
                "resourceVersion": subscription.resource_version(),
            })
        })
        .collect();
    let patch = json!({
        "metadata": {
            "resourceVersion": plan.resource_version(),
            "annotations": {APPROVED_BY: Value::Array(by).to_string()},
        },
        "spec": {"approved": true},
    });
    Effect::merge(target_of(plan), patch, None)
}

/// Whether the plan was made for a Subscription that stays.
fn asks_for(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let uid = subscription.metadata.uid.as_deref();
    stays(subscription) && owners(plan).any(|owner| Some(owner) == uid)
}

fn stays(subscription: &Subscription) -> bool {
    subscription.metadata.deletion_timestamp.is_none()
}

#[cfg(test)]
mod tests;
