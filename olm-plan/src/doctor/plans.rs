//! InstallPlans: waiting, failing, gone, and those that nothing refers to.

use std::collections::BTreeSet;
use std::ptr;

use olm_types::annotations::{PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{
    Approval, InstallPlan, InstallPlanPhase, Subscription, SubscriptionCondition, SubscriptionState,
};
use olm_types::conditions::install_plan::INSTALLED;
use olm_types::conditions::subscription::{
    INSTALL_PLAN_FAILED, INSTALL_PLAN_MISSING, UPGRADE_HELD,
};
use olm_types::reasons::install_plan::INSTALL_CHECK_FAILED;
use olm_types::reasons::subscription as reasons;

use super::subscriptions::each;
use super::{Fix, Found, View, fix};
use crate::approval::{approval, is_pending};
use crate::health::true_condition;
use crate::observed::{name, namespace};

/// What a failed plan says of a CRD that loses a version, and of objects that would be invalid.
const STORED: [&str; 2] = ["risk of data loss updating", "is owned by several operators ("];
const INVALID: &str = "error validating existing CRs";

/// What a plan says of a copy that has the name of its CSV.
const COPIED: &str = " holds a copy of ";

/// What a plan says that is tried again.
const RETRIED: &str = "retrying execution due to error: ";

/// A plan waits for a user; one finding for each plan.
pub(super) fn waits_for_approval(view: &View<'_>) -> Vec<Found> {
    let found = asked_for(view).into_iter().filter(|(plan, _)| is_pending(plan));
    let found = found.filter_map(|(plan, by)| {
        let names = plan.spec.cluster_service_version_names.join(", ");
        let evidence = format!("it installs {names} once it is approved");
        Some(Found::of(InstallPlan::KIND, &plan.metadata, evidence, go_on(view, plan, by)?))
    });
    found.collect()
}

/// The plan that a Subscription points at does not exist.
pub(super) fn is_gone(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        true_condition(one, INSTALL_PLAN_MISSING)?;
        let status = one.status.as_ref()?;
        let plan = status.install_plan_ref.as_ref().and_then(|it| it.name.as_deref());
        let evidence = format!("there is no InstallPlan {}", plan.unwrap_or_default());
        let wait = match &status.installed_csv {
            Some(csv) => {
                format!(
                    "nothing has to be done: {csv} stays, and the next upgrade makes a new plan"
                )
            }
            None => "the next resolution makes a new plan".to_owned(),
        };
        Some((evidence, Fix::Wait(wait)))
    })
}

/// An Automatic Subscription whose plan waits for the approval of another.
pub(super) fn held_by_sibling(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let is_manual =
            |one: &Subscription| one.spec.install_plan_approval == Some(Approval::Manual);
        let plan = view.plan_of(one).filter(|plan| !is_manual(one) && is_pending(plan))?;
        let here = view.subscriptions_in(namespace(&one.metadata)).iter();
        let shares = |other: &Subscription| view.plan_of(other).is_some_and(|it| ptr::eq(it, plan));
        let manual = here.filter(|other| is_manual(other) && shares(other));
        let manual: Vec<&str> = manual.map(|other| name(&other.metadata)).collect();
        let evidence = format!(
            "its InstallPlan {} waits for approval, as it installs for Subscription {} as well",
            name(&plan.metadata),
            manual.join(", ")
        );
        Some((evidence, go_on(view, plan, one)?))
    })
}

/// A plan has failed, or is tried again and again, for a reason without a code of its own.
pub(super) fn failed(view: &View<'_>) -> Vec<Found> {
    let is_other = |text: &str| !is_stored(text) && !text.contains(INVALID);
    failing(view, is_other, |plan, message| match message.contains(COPIED) {
        true => Fix::Wait(
            "do one of what the message names; the plan goes on when the copy is gone".to_owned(),
        ),
        false => Fix::AskTheAuthor(format!(
            "ask the author of the operator, unless the message names a right that is missing or an \
             object that can be repaired; afterwards {}",
            again(plan)
        )),
    })
}

/// A plan has failed because a CRD would lose a version.
pub(super) fn stored_version(view: &View<'_>) -> Vec<Found> {
    let ask = "ask the author for a version that still serves the stored one, and for the way to store all \
               objects in another";
    failing(view, is_stored, |_, _| Fix::AskTheAuthor(ask.to_owned()))
}

/// A plan has failed because objects would be invalid.
pub(super) fn invalid_objects(view: &View<'_>) -> Vec<Found> {
    failing(
        view,
        |text| text.contains(INVALID),
        |plan, _| {
            Fix::AskTheAuthor(format!(
                "ask the author how the object that the message names is to be changed; afterwards {}",
                again(plan)
            ))
        },
    )
}

/// A plan that was approved, and is not executed since no Subscription refers to it.
pub(super) fn replaced(view: &View<'_>) -> Vec<Found> {
    let asked_for: BTreeSet<(&str, &str)> = asked_for(view)
        .into_iter()
        .map(|(plan, _)| (namespace(&plan.metadata), name(&plan.metadata)))
        .collect();
    let plans = view.observed.install_plans.iter().filter(|plan| {
        let is_asked_for = asked_for.contains(&(namespace(&plan.metadata), name(&plan.metadata)));
        plan.spec.approved && !is_asked_for && is_left_alone(plan)
    });
    let found = plans.map(|plan| {
        let (home, own) = (namespace(&plan.metadata), name(&plan.metadata));
        let names = plan.spec.cluster_service_version_names.join(", ");
        let evidence =
            format!("it is approved and would install {names}, and no Subscription refers to it");
        let fix = fix::kubectl(home, &["delete", "installplan", own]);
        Found::of(InstallPlan::KIND, &plan.metadata, evidence, fix)
    });
    found.collect()
}

/// Plans that Subscriptions point at, each with the first of these Subscriptions.
fn asked_for<'a>(view: &View<'a>) -> Vec<(&'a InstallPlan, &'a Subscription)> {
    let mut seen = BTreeSet::new();
    let all = view.observed.subscriptions.iter();
    let all = all.filter_map(|one| Some((view.plan_of(one)?, one)));
    let first = all.filter(|(plan, _)| {
        seen.insert((namespace(&plan.metadata).to_owned(), name(&plan.metadata).to_owned()))
    });
    first.collect()
}

/// What lets a plan go on: another annotation where one holds it, which no approval changes, or its approval.
fn go_on(view: &View<'_>, plan: &InstallPlan, by: &Subscription) -> Option<Fix> {
    match holding(by) {
        Some(held) => Some(Fix::Wait(release(by, held))),
        None => approve(view, plan, by),
    }
}

/// The condition that says that a Subscription holds its plan. With a pin or a range it may be about later versions
/// alone; the state says whether it is about the plan.
fn holding(subscription: &Subscription) -> Option<&SubscriptionCondition> {
    let held = true_condition(subscription, UPGRADE_HELD)?;
    let by_version = [Some(reasons::PINNED), Some(reasons::VERSION_RANGE)];
    let state = subscription.status.as_ref().map(|status| status.state).unwrap_or_default();
    let holds_all = !by_version.contains(&held.reason.as_deref());
    (holds_all || state == SubscriptionState::AtLatestKnown).then_some(held)
}

fn release(by: &Subscription, held: &SubscriptionCondition) -> String {
    let without = |key: &str| {
        let key = format!("{key}-");
        let words = ["annotate", "subscription", name(&by.metadata), &key];
        fix::line(namespace(&by.metadata), &words)
    };
    match held.reason.as_deref().unwrap_or_default() {
        reasons::PAUSED => {
            format!("annotation {PAUSE} holds it until it is removed: {}", without(PAUSE))
        }
        reasons::PINNED => format!(
            "annotation {PIN} holds it: name its version in spec.startingCSV, or remove the annotation: {}",
            without(PIN)
        ),
        reasons::VERSION_RANGE => format!(
            "annotation {VERSION_RANGE} does not accept its version: change the range, or remove it: {}",
            without(VERSION_RANGE)
        ),
        _ => held.message.clone().unwrap_or_default(),
    }
}

/// The approval of a plan as a command; none where the Subscription names no CSV of it.
fn approve(view: &View<'_>, plan: &InstallPlan, by: &Subscription) -> Option<Fix> {
    let csv = by.status.as_ref()?.current_csv.as_deref()?;
    let hash = approval(view.observed, plan).plan_hash;
    let flags = ["approve", "--yes", "--plan-hash", &hash, "--", &by.spec.name, csv];
    Some(fix::olm(namespace(&plan.metadata), &flags))
}

/// Failing plans of Subscriptions whose message is of a kind; one finding for each plan.
fn failing(
    view: &View<'_>,
    fits: impl Fn(&str) -> bool,
    fix: impl Fn(&InstallPlan, &str) -> Fix,
) -> Vec<Found> {
    let due = asked_for(view).into_iter().filter(|(plan, by)| !is_released(plan, by));
    let found = due.filter_map(|(plan, _)| {
        let message = failure(plan).filter(|message| fits(message))?;
        let fix = fix(plan, &message);
        Some(Found::of(InstallPlan::KIND, &plan.metadata, message, fix))
    });
    found.collect()
}

/// Whether a plan has failed, and its Subscription holds back what the plan would bring: pin or range went back.
fn is_released(plan: &InstallPlan, by: &Subscription) -> bool {
    plan.phase() == InstallPlanPhase::Failed
        && holding(by).is_some()
        && true_condition(by, INSTALL_PLAN_FAILED).is_none()
}

/// Why a plan has failed, or is tried again.
fn failure(plan: &InstallPlan) -> Option<String> {
    let status = plan.status.as_ref()?;
    let retried = status.message.as_deref().and_then(|message| message.strip_prefix(RETRIED));
    if status.phase != InstallPlanPhase::Failed {
        return retried.filter(|_| status.phase == InstallPlanPhase::Installing).map(str::to_owned);
    }
    let of_conditions = status.conditions.iter().filter_map(|one| one.message.clone());
    let messages = of_conditions.chain(status.message.clone()).find(|text| !text.is_empty());
    Some(messages.unwrap_or_default())
}

fn is_stored(message: &str) -> bool {
    STORED.iter().any(|text| message.contains(text))
}

/// Whether a plan was not begun, or not continued for a check that failed.
fn is_left_alone(plan: &InstallPlan) -> bool {
    let Some(status) = &plan.status else { return true };
    let held = status.conditions.iter().any(|condition| {
        condition.type_.as_deref() == Some(INSTALLED)
            && condition.reason.as_deref() == Some(INSTALL_CHECK_FAILED)
    });
    let is_over = matches!(status.phase, InstallPlanPhase::Complete | InstallPlanPhase::Failed);
    !is_over && (held || status.phase.as_str().is_empty())
}

/// How a plan is made anew.
fn again(plan: &InstallPlan) -> String {
    let words = ["delete", "installplan", name(&plan.metadata)];
    fix::line(namespace(&plan.metadata), &words)
}
