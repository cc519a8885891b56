//! What was shown beside what was done.

use std::collections::BTreeSet;
use std::fmt;

use olm_types::api::{InstallPlan, InstallPlanPhase};
use serde_json::Value;

use super::question::Answer;
use super::window::Window;
use crate::plan_check::{
    ObservedWrites, differences, is_missing, is_to_be_collected, object_of, problem, written_again,
};

/// Why there is nothing to compare with.
const NO_PLAN: &str = "no plan could be made";
const NOT_READ: &str = "not all contents could be read";
const REFUSED: &str = "the plan was refused, and nothing was installed";
const NO_GROUP: &str = "the namespace had no OperatorGroup yet";

/// Why not all of it was done.
const NOT_COMPLETE: &str = "an InstallPlan is not complete, or its operator has not succeeded";

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
    /// There is nothing to compare with.
    NotComparable(&'static str),
    /// What differs.
    Other(Vec<String>),
}

impl Verdict {
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
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
            Self::NotComparable(why) => write!(f, "not comparable: {why}"),
            Self::Other(lines) => write!(f, "not as shown:\n  {}", lines.join("\n  ")),
        }
    }
}

/// Compares steps and objects. Where the verdict is whole, rights and images may be compared, too.
pub(super) fn decide(answer: &Answer, observed: &Observed<'_>) -> Verdict {
    let Ok(plan) = &answer.plan else { return Verdict::NotComparable(NO_PLAN) };
    if let Some(why) = answer.at_work.or_else(|| incomparable(plan)) {
        return Verdict::NotComparable(why);
    }
    let window = observed.window;
    if let Some(why) = problem(plan) {
        let all_done = || observed.plans.iter().all(is_complete);
        let is_done = window.ended_by.is_none() && window.has_install_plan() && all_done();
        return match is_done {
            true => Verdict::Other(vec![format!("it was installed, and this was shown: {why}")]),
            false => Verdict::NotComparable(REFUSED),
        };
    }
    let (mut lines, is_complete) = hops(plan, observed);
    if lines.is_empty()
        && let (Some(why), false) = (window.ended_by, has_begun(plan, observed))
    {
        return Verdict::NotComparable(why);
    }
    let is_whole = is_complete && window.ended_by.is_none();
    lines.extend(objects(plan, observed, is_whole));
    match lines.is_empty() {
        false => Verdict::Other(lines),
        true if is_whole => Verdict::Whole(list(&plan["changes"]).count()),
        true => Verdict::Begun(window.ended_by.unwrap_or(NOT_COMPLETE)),
    }
}

/// Why a plan is of another world than the one in which OLM acts.
fn incomparable(plan: &Value) -> Option<&'static str> {
    if list(&plan["unknown"]).next().is_some() {
        return Some(NOT_READ);
    }
    let makes_group =
        |change: &Value| change["action"] == "Create" && change["kind"] == "OperatorGroup";
    list(&plan["changes"]).any(makes_group).then_some(NO_GROUP)
}

/// Whether the first InstallPlan that was shown is there.
fn has_begun(plan: &Value, observed: &Observed<'_>) -> bool {
    list(&plan["hops"]).next().is_some_and(|hop| install_plan(hop, observed).is_some())
}

/// What is not as it was shown of InstallPlans, and whether all of them have come to their end.
fn hops(plan: &Value, observed: &Observed<'_>) -> (Vec<String>, bool) {
    let (mut lines, mut is_complete) = (Vec::new(), true);
    for hop in list(&plan["hops"]) {
        match install_plan(hop, observed) {
            Some(found) => {
                lines.extend(steps(hop, found));
                is_complete &= self::is_complete(found);
            }
            None if is_complete && observed.window.ended_by.is_none() => {
                lines.push(format!("no InstallPlan of {:?} is there", csvs(hop)));
            }
            None => is_complete = false,
        }
    }
    let last = list(&plan["hops"]).last().map(csvs).unwrap_or_default();
    let has_succeeded = last.iter().all(|csv| observed.succeeded.contains(*csv));
    if last.is_empty() && observed.window.has_install_plan() && observed.window.ended_by.is_none() {
        lines.push("an InstallPlan was made, and none was shown".to_owned());
    }
    (lines, is_complete && has_succeeded)
}

/// The InstallPlan of exactly these CSVs.
fn install_plan<'p>(hop: &Value, observed: &'p Observed<'_>) -> Option<&'p InstallPlan> {
    let shown = csvs(hop);
    observed.plans.iter().rev().find(|plan| {
        let names = plan.spec.cluster_service_version_names.iter().map(String::as_str);
        names.collect::<BTreeSet<&str>>() == shown
    })
}

fn csvs(hop: &Value) -> BTreeSet<&str> {
    list(&hop["bundles"]).filter_map(|bundle| bundle["csv"].as_str()).collect()
}

fn is_complete(plan: &InstallPlan) -> bool {
    plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
}

/// A line when the steps of an InstallPlan, once it has any, are not those that were shown.
fn steps(hop: &Value, plan: &InstallPlan) -> Option<String> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let done: Vec<String> =
        steps.map(|step| format!("{}/{}", step.resource.kind, step.resource.name)).collect();
    let shown: Vec<&str> = list(&hop["steps"]).filter_map(Value::as_str).collect();
    (!done.is_empty() && done != shown).then(|| format!("steps: {shown:?} shown, {done:?} done"))
}

/// What is not as it was shown of objects.
fn objects(plan: &Value, observed: &Observed<'_>, is_whole: bool) -> Vec<String> {
    let seen = ObservedWrites::of(&observed.window.writes, observed.namespace);
    let mut lines = differences(plan, &seen);
    lines.retain(|line| {
        // Other scenarios make namespaces, and so copies.
        let Some(object) = object_of(line) else { return false };
        let is_of_scenario = OF_SCENARIOS.iter().any(|resource| object.starts_with(resource));
        // The audit log has no name for what the API server names.
        let is_unnamed = object.contains('*') || object.ends_with([' ', '/']);
        let is_excused = is_to_be_collected(line) || !is_whole && is_missing(line);
        let is_unclear =
            written_again(line).is_some() || observed.window.meanwhile.contains(object);
        !(is_of_scenario || is_unnamed || is_excused || is_unclear)
    });
    lines
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::super::window::{PUBLISHED, WRITTEN};
    use super::*;
    use crate::audit::Write;

    fn created(object: &str) -> Write {
        Write {
            program: "olm-operator".to_owned(),
            agent: String::new(),
            verb: "create".to_owned(),
            is_new: true,
            object: object.to_owned(),
            namespace: "ns".to_owned(),
            received: Timestamp::UNIX_EPOCH,
            done: Timestamp::UNIX_EPOCH,
        }
    }

    fn plan() -> Value {
        json!({"hops": [{"bundles": [{"csv": "kettle.v1"}], "steps": ["Service/a"]}],
            "changes": [{"action": "Create", "kind": "Service", "namespace": "ns", "name": "a"},
                {"action": "Create", "kind": "Subscription", "namespace": "ns", "name": "kettle"}]})
    }

    fn install_plan(phase: &str, step: &str) -> InstallPlan {
        let plan = json!({"metadata": {"name": "install-a"},
            "spec": {"clusterServiceVersionNames": ["kettle.v1"], "approval": "Automatic", "approved": true},
            "status": {"phase": phase, "plan": [{"resource": {"kind": "Service", "name": step}}]}});
        from_value(plan).unwrap()
    }

    fn verdict(
        plan: Value,
        plans: &[InstallPlan],
        objects: &[&str],
        ended_by: Option<&'static str>,
    ) -> Verdict {
        let answer = Answer { plan: Ok(plan), at_work: None, images: BTreeSet::new() };
        let writes = objects.iter().map(|object| created(object)).collect();
        let window =
            Window { writes, meanwhile: BTreeSet::from(["roles ns/r".to_owned()]), ended_by };
        let succeeded = BTreeSet::from(["kettle.v1".to_owned()]);
        let (namespace, plans) = ("ns", plans.to_vec());
        decide(&answer, &Observed { namespace, window: &window, plans, succeeded })
    }

    #[rstest]
    #[case::all("Complete", &["services ns/a"], None, Verdict::Whole(2))]
    #[case::while_it_was_made("Complete", &["services ns/a", "roles ns/r"], None, Verdict::Whole(2))]
    #[case::waits("RequiresApproval", &[], None, Verdict::Begun(NOT_COMPLETE))]
    #[case::changed("Complete", &[], Some(PUBLISHED), Verdict::Begun(PUBLISHED))]
    #[case::less("Complete", &[], None,
        Verdict::Other(vec!["created: services ns/a was shown, and not done".to_owned()]))]
    #[case::more("Complete", &["services ns/a", "services ns/b"], Some(WRITTEN),
        Verdict::Other(vec!["created: services ns/b was done, and not shown".to_owned()]))]
    fn objects_are_compared(
        #[case] phase: &str,
        #[case] objects: &[&str],
        #[case] ended_by: Option<&'static str>,
        #[case] expected: Verdict,
    ) {
        assert_eq!(verdict(plan(), &[install_plan(phase, "a")], objects, ended_by), expected);
    }

    #[test]
    fn steps_are_compared() {
        let other = verdict(plan(), &[install_plan("Complete", "b")], &["services ns/a"], None);
        assert!(other.is_other() && other.to_string().contains("steps: "), "{other}");
        let missing = verdict(plan(), &[], &[], None);
        assert!(missing.to_string().contains("no InstallPlan of {\"kettle.v1\"}"), "{missing}");
        let cut = verdict(plan(), &[], &[], Some(WRITTEN));
        assert_eq!(cut, Verdict::NotComparable(WRITTEN));
    }

    #[rstest]
    #[case::refused(json!({"refused": {"kettle": "no channel"}}), &[], Verdict::NotComparable(REFUSED))]
    #[case::unread(json!({"unknown": ["bundle image i"]}), &[], Verdict::NotComparable(NOT_READ))]
    #[case::no_group(json!({"changes": [{"action": "Create", "kind": "OperatorGroup"}]}), &[],
        Verdict::NotComparable(NO_GROUP))]
    #[case::nothing_new(json!({"hops": []}), &[], Verdict::Whole(0))]
    #[case::refused_and_done(json!({"problems": ["p"]}), &["installplans ns/"],
        Verdict::Other(vec!["it was installed, and this was shown: p".to_owned()]))]
    #[case::nothing_and_done(json!({"hops": []}), &["installplans ns/"],
        Verdict::Other(vec!["an InstallPlan was made, and none was shown".to_owned()]))]
    fn without_steps(#[case] plan: Value, #[case] objects: &[&str], #[case] expected: Verdict) {
        let plans = [install_plan("Complete", "a")];
        assert_eq!(verdict(plan, &plans, objects, None), expected);
    }

    #[test]
    fn what_was_under_way_is_not_compared() {
        let (at_work, images) = (Some("under way"), BTreeSet::new());
        let window = Window::default();
        let observed = Observed {
            namespace: "ns",
            window: &window,
            plans: Vec::new(),
            succeeded: BTreeSet::new(),
        };
        let decided = |plan| decide(&Answer { plan, at_work, images: images.clone() }, &observed);
        assert_eq!(decided(Ok(plan())), Verdict::NotComparable("under way"));
        assert_eq!(decided(Err("no such package".to_owned())), Verdict::NotComparable(NO_PLAN));
    }
}
