//! What was shown beside what was done.

use std::collections::BTreeSet;
use std::fmt;

use olm_types::api::InstallPlan;
use serde_json::Value;

use super::beside::without_shown_beside;
use super::install_plans;
use super::question::Answer;
use super::window::Window;
use crate::plan_check::{
    ObservedWrites, differences, is_missing, is_more, is_to_be_collected, object_of, problem,
    written_again,
};

/// Why there is nothing to compare with.
const NO_PLAN: &str = "no plan could be made";
const LATE_PACKAGE: &str = "the package was in no catalog yet";
const LATE_KIND: &str = "a kind came that the cluster did not have";
const NOT_READ: &str = "not all contents could be read";
const OTHER_GROUPS: &str =
    "the plan was refused, and an OperatorGroup of another namespace changed";

/// How the program begins what it says about bundles that were not read.
const UNREAD_BUNDLES: [&str; 2] = ["bundle image ", "manifests of bundle "];

/// Why not all of it was done.
const NOT_COMPLETE: &str = "an InstallPlan is not complete, or its operator has not succeeded";

/// What the program says where no catalog has a package, or a package no such channel or version.
const NOT_THERE: [&str; 3] = ["no catalog that was read", "has no channel", "has no version"];

/// What an InstallPlan says of a step whose kind the cluster does not have.
const NO_API: &str = "not found on the cluster";

/// What scenarios make themselves.
const OF_SCENARIOS: [&str; 4] =
    ["catalogsources ", "namespaces ", "operatorgroups ", "subscriptions "];

/// What was done.
pub(super) struct Observed<'a> {
    pub(super) namespace: &'a str,
    pub(super) window: &'a Window,
    /// The InstallPlans of the namespace.
    pub(super) plans: Vec<InstallPlan>,
    /// Its CSVs that have succeeded.
    pub(super) succeeded: BTreeSet<String>,
}

/// What came of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Exactly what was shown was done; so many changes.
    Whole(usize),
    /// Nothing else was done, and there is a reason why not all of it was.
    Begun(&'static str),
    /// It was shown that nothing can be installed, or that a step fails, and so it was.
    Refused,
    /// It was shown that bundles cannot be read, and nothing of them was installed.
    Unread,
    /// There is nothing to compare with.
    NotComparable(&'static str),
    /// What differs.
    Other(Vec<String>),
}

impl Verdict {
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    pub(super) const fn is_begun(&self) -> bool {
        matches!(self, Self::Begun(_))
    }

    /// Whether nothing was installed, and that was shown.
    pub(super) const fn is_refused(&self) -> bool {
        matches!(self, Self::Refused | Self::Unread)
    }

    pub(super) const fn is_other(&self) -> bool {
        matches!(self, Self::Other(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(changes) => write!(f, "{changes} changes as shown"),
            Self::Begun(why) => write!(f, "as shown so far: {why}"),
            Self::Refused => write!(f, "refused, as shown"),
            Self::Unread => write!(f, "not read, as shown, and not installed"),
            Self::NotComparable(why) => write!(f, "not comparable: {why}"),
            Self::Other(lines) => write!(f, "not as shown:\n  {}", lines.join("\n  ")),
        }
    }
}

/// Compares steps and objects. Where the verdict is whole, rights and images may be compared, too.
pub(super) fn decide(answer: &Answer, observed: &Observed<'_>) -> Verdict {
    if let Some(why) = answer.not_compared {
        return Verdict::NotComparable(why);
    }
    let plan = match &answer.plan {
        Ok(plan) => plan,
        Err(why) => return without_plan(why, answer, observed),
    };
    if has_unread_bundles(plan) {
        return of_unread(plan, observed);
    }
    if let Some(why) = stopped(plan) {
        return not_stopped(&why, plan, answer, observed);
    }
    let window = observed.window;
    let (mut lines, is_complete) = install_plans::compare(plan, observed);
    if !install_plans::are_shown(plan) && is_installed_alone(answer, observed) {
        lines.push("an InstallPlan was made, and none was shown".to_owned());
    }
    if lines.is_empty()
        && let (Some(why), false) = (window.ended_by, install_plans::has_begun(plan, observed))
    {
        return Verdict::NotComparable(why);
    }
    let mut plans = answer.beside.iter().chain([plan]);
    let is_on_the_way = plans.any(|plan| install_plans::is_on_the_way(plan, observed));
    let is_whole = is_complete && window.ended_by.is_none() && !is_on_the_way;
    let mut objects = objects(plan, &answer.beside, observed);
    objects.retain(|line| is_whole || !(is_missing(line) || is_on_the_way && is_more(line)));
    lines.extend(objects);
    match lines.is_empty() {
        false => Verdict::Other(lines),
        true if is_whole => Verdict::Whole(list(&plan["changes"]).count()),
        true => Verdict::Begun(window.ended_by.unwrap_or(NOT_COMPLETE)),
    }
}

/// Whether contents of bundles are unknown. Unknown catalogs are no matter: OLM cannot read them either.
pub(super) fn has_unread_bundles(plan: &Value) -> bool {
    let is_of_bundle = |what: &str| UNREAD_BUNDLES.iter().any(|start| what.starts_with(start));
    list(&plan["unknown"]).filter_map(Value::as_str).any(is_of_bundle)
}

/// Contents were not read, which the plan says: what it knows is of which CSVs InstallPlans are.
fn of_unread(plan: &Value, observed: &Observed<'_>) -> Verdict {
    let window = observed.window;
    if install_plans::has_begun(plan, observed) {
        return Verdict::Begun(NOT_READ);
    }
    match window.ended_by {
        None if window.has_install_plan() => {
            Verdict::Other(vec!["an InstallPlan was made of other CSVs than were shown".to_owned()])
        }
        Some(ended_by) if !has_nothing(observed) => Verdict::NotComparable(ended_by),
        _ => Verdict::Unread,
    }
}

/// Why a plan is not executed. What was refused beside InstallPlans that are shown is another Subscription, or what
/// would come after them.
fn stopped(plan: &Value) -> Option<String> {
    let has_problems = list(&plan["problems"]).next().is_some();
    problem(plan).filter(|_| has_problems || !install_plans::are_shown(plan))
}

/// What a program without a plan means: where what was asked for is in no catalog, nothing is installed.
fn without_plan(why: &str, answer: &Answer, observed: &Observed<'_>) -> Verdict {
    match observed.window.ended_by {
        _ if !NOT_THERE.iter().any(|text| why.contains(text)) => Verdict::NotComparable(NO_PLAN),
        Some(ended_by) if !has_nothing(observed) => Verdict::NotComparable(ended_by),
        None if is_installed_alone(answer, observed) => Verdict::NotComparable(LATE_PACKAGE),
        _ => Verdict::Refused,
    }
}

/// What it means that a plan was executed, or not, which was shown to be stopped.
fn not_stopped(why: &str, plan: &Value, answer: &Answer, observed: &Observed<'_>) -> Verdict {
    if has_nothing(observed) {
        return Verdict::Refused;
    }
    if let Some(ended_by) = observed.window.ended_by {
        return Verdict::NotComparable(ended_by);
    }
    let has_come = match install_plans::are_shown(plan) {
        true => install_plans::has_come(plan, observed),
        false => is_installed_alone(answer, observed),
    };
    if !has_come {
        return Verdict::Refused;
    }
    if why.contains(NO_API) {
        return Verdict::NotComparable(LATE_KIND);
    }
    match observed.window.has_other_groups {
        true => Verdict::NotComparable(OTHER_GROUPS),
        false => Verdict::Other(vec![format!("it was installed, and this was shown: {why}")]),
    }
}

/// Whether the namespace has no InstallPlan, whatever the scenario has done otherwise: nothing was installed.
fn has_nothing(observed: &Observed<'_>) -> bool {
    observed.plans.is_empty() && !observed.window.has_install_plan()
}

/// Whether an InstallPlan was made that is of no other plan.
fn is_installed_alone(answer: &Answer, observed: &Observed<'_>) -> bool {
    let window = observed.window;
    let is_alone = !answer.beside.iter().any(install_plans::are_shown);
    is_alone && window.ended_by.is_none() && window.has_install_plan()
}

/// What is not as it was shown of objects.
fn objects(plan: &Value, beside: &[Value], observed: &Observed<'_>) -> Vec<String> {
    let seen = ObservedWrites::of(&observed.window.writes, observed.namespace);
    let others: Vec<Vec<String>> = beside.iter().map(|other| differences(other, &seen)).collect();
    let mut lines = without_shown_beside(differences(plan, &seen), &others);
    lines.retain(|line| {
        // Other scenarios make namespaces, and so copies.
        let Some(object) = object_of(line) else { return false };
        let is_of_scenario = OF_SCENARIOS.iter().any(|resource| object.starts_with(resource));
        // The audit log has no name for what the API server names.
        let is_unnamed = object.contains('*') || object.ends_with([' ', '/']);
        let is_unclear = is_to_be_collected(line)
            || written_again(line).is_some()
            || observed.window.meanwhile.contains(object);
        !(is_of_scenario || is_unnamed || is_unclear)
    });
    lines
}

/// The items of a list; none where there is none.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests;
