//! The InstallPlans that were shown beside those that are there.

use std::collections::BTreeSet;

use kube::ResourceExt;
use olm_types::api::{Approval, InstallPlan, InstallPlanPhase};
use serde_json::Value;

use super::verdict::{Observed, list};

/// What is not as it was shown of InstallPlans, and whether all of them have come to their end.
pub(super) fn compare(plan: &Value, observed: &Observed<'_>) -> (Vec<String>, bool) {
    let (mut lines, mut is_complete) = (Vec::new(), true);
    let mut removed = observed.window.removed_install_plans();
    let hops: Vec<&Value> = list(&plan["hops"]).collect();
    for (place, hop) in hops.iter().enumerate() {
        let is_last = place + 1 == hops.len();
        match install_plan(hop, observed) {
            Some(found) => {
                lines.extend(steps(hop, found).filter(|_| is_as_planned(observed)));
                is_complete &= self::is_complete(found);
            }
            None if removed > 0 && !is_last => removed -= 1,
            None if is_complete && observed.window.ended_by.is_none() => {
                lines.push(format!("no InstallPlan of {:?} is there", csvs(hop)));
            }
            None => is_complete = false,
        }
    }
    (lines, is_complete && has_come(plan, observed))
}

/// Whether all that the last one brings has succeeded.
pub(super) fn has_come(plan: &Value, observed: &Observed<'_>) -> bool {
    let last = list(&plan["hops"]).last().map(csvs).unwrap_or_default();
    last.iter().all(|csv| observed.succeeded.contains(*csv))
}

/// The names of those that are of no CSVs that are shown.
pub(super) fn strangers<'p>(
    shown: &[&Value],
    plans: impl IntoIterator<Item = &'p InstallPlan>,
) -> BTreeSet<String> {
    let shown: Vec<BTreeSet<&str>> =
        shown.iter().flat_map(|plan| list(&plan["hops"])).map(csvs).collect();
    let is_stranger = |plan: &&InstallPlan| {
        let names = plan.spec.cluster_service_version_names.iter().map(String::as_str);
        let names: BTreeSet<&str> = names.collect();
        !shown.contains(&names)
    };
    plans.into_iter().filter(is_stranger).map(ResourceExt::name_any).collect()
}

/// Whether a plan shows any.
pub(super) fn are_shown(plan: &Value) -> bool {
    list(&plan["hops"]).next().is_some()
}

/// How many of them wait for a user.
pub(super) fn waiting(plan: &Value) -> usize {
    let waits = |hop: &&Value| {
        hop["approval"] == Approval::Manual.as_str() && hop["isApproved"] != Value::Bool(true)
    };
    list(&plan["hops"]).filter(waits).count()
}

/// Whether one of those that were shown is there.
pub(super) fn has_begun(plan: &Value, observed: &Observed<'_>) -> bool {
    list(&plan["hops"]).any(|hop| install_plan(hop, observed).is_some())
}

/// Whether it is between the first and the last of several: the plan shows what is there after the last one.
pub(super) fn is_on_the_way(plan: &Value, observed: &Observed<'_>) -> bool {
    let is_over = || observed.window.ended_by.is_none() && compare(plan, observed).1;
    list(&plan["hops"]).count() > 1 && !is_over()
}

/// Whether one is complete.
pub(super) fn is_complete(plan: &InstallPlan) -> bool {
    plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
}

/// Whether InstallPlans are of what there was when the plan was shown, and not made only after something else was
/// done.
fn is_as_planned(observed: &Observed<'_>) -> bool {
    observed.window.ended_by.is_none() || observed.window.has_install_plan()
}

/// The InstallPlan of exactly these CSVs. Of several it is one with the steps that were shown, if there is one: a
/// Subscription that a scenario makes meanwhile gets the same CSVs by another.
fn install_plan<'p>(hop: &Value, observed: &'p Observed<'_>) -> Option<&'p InstallPlan> {
    let shown = csvs(hop);
    let is_of_them = |plan: &&InstallPlan| {
        let names = plan.spec.cluster_service_version_names.iter().map(String::as_str);
        names.collect::<BTreeSet<&str>>() == shown
    };
    let of_them = observed.plans.iter().filter(is_of_them);
    of_them.max_by_key(|plan| (steps(hop, plan).is_none(), plan.spec.generation))
}

fn csvs(hop: &Value) -> BTreeSet<&str> {
    list(&hop["bundles"]).filter_map(|bundle| bundle["csv"].as_str()).collect()
}

/// A line when the steps of an InstallPlan, once it has any, are not those that were shown.
fn steps(hop: &Value, plan: &InstallPlan) -> Option<String> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let done: Vec<String> =
        steps.map(|step| format!("{}/{}", step.resource.kind, step.resource.name)).collect();
    let shown: Vec<&str> = list(&hop["steps"]).filter_map(Value::as_str).collect();
    (!done.is_empty() && done != shown).then(|| format!("steps: {shown:?} shown, {done:?} done"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::super::window::{PUBLISHED, Window};
    use super::*;
    use crate::audit::Write;

    fn hop(approval: &str, csv: &str) -> Value {
        json!({"approval": approval, "bundles": [{"csv": csv}], "steps": []})
    }

    fn install_plan(csv: &str) -> InstallPlan {
        let spec =
            json!({"clusterServiceVersionNames": [csv], "approval": "Automatic", "approved": true});
        let plan = json!({"metadata": {"name": "install-a"}, "spec": spec,
            "status": {"phase": "Complete", "plan": []}});
        from_value(plan).unwrap()
    }

    fn removed() -> Write {
        Write::example("catalog-operator", "delete", "installplans ns/install-b")
    }

    /// Of three versions in a row.
    #[rstest]
    #[case::all(&["a", "b", "c"], 0, None, 0, true)]
    #[case::the_first_was_removed(&["b", "c"], 1, None, 0, true)]
    #[case::the_first_is_missing(&["b", "c"], 0, None, 1, true)]
    #[case::two_are_missing(&["c"], 1, None, 1, true)]
    #[case::the_last_is_missing(&["a", "b"], 1, None, 1, true)]
    #[case::something_else_was_done(&["a"], 0, Some(PUBLISHED), 0, false)]
    fn only_old_ones_are_removed(
        #[case] there: &[&str],
        #[case] gone: usize,
        #[case] ended_by: Option<&'static str>,
        #[case] lines: usize,
        #[case] is_complete: bool,
    ) {
        let hops = ["a", "b", "c"].map(|csv| hop("Automatic", csv));
        let plan = json!({ "hops": hops });
        let window = Window { writes: vec![removed(); gone], ended_by, ..Window::default() };
        let plans = there.iter().map(|csv| install_plan(csv)).collect();
        let succeeded = BTreeSet::from(["c".to_owned()]);
        let observed = Observed { namespace: "ns", window: &window, plans, succeeded };
        let found = compare(&plan, &observed);
        assert_eq!((found.0.len(), found.1), (lines, is_complete), "{found:?}");
        assert_eq!(is_on_the_way(&plan, &observed), ended_by.is_some() || !is_complete);
        assert!(has_begun(&plan, &observed));
    }

    /// A Subscription that the scenario made meanwhile is no step of it any more.
    #[rstest]
    #[case::nothing_else_was_done(None, false, 1)]
    #[case::made_before(Some(PUBLISHED), true, 1)]
    #[case::made_after(Some(PUBLISHED), false, 0)]
    fn steps_are_those_of_what_there_was(
        #[case] ended_by: Option<&'static str>,
        #[case] is_made: bool,
        #[case] lines: usize,
    ) {
        let made = Write { verb: "create".to_owned(), is_new: true, ..removed() };
        let writes = if is_made { vec![made] } else { Vec::new() };
        let window = Window { writes, ended_by, ..Window::default() };
        let mut other = install_plan("a");
        other.spec.generation = Some(2);
        let step = json!({"resolving": "a", "status": "Present",
            "resource": {"kind": "Service", "name": "s", "group": "", "version": "v1", "manifest": "",
                "sourceName": "", "sourceNamespace": ""}});
        other.status.get_or_insert_default().plan = vec![from_value(step).unwrap()];
        let succeeded = BTreeSet::from(["a".to_owned()]);
        let mut observed =
            Observed { namespace: "ns", window: &window, plans: vec![other], succeeded };
        let plan = json!({"hops": [hop("Automatic", "a")]});
        assert_eq!(compare(&plan, &observed).0.len(), lines);
        observed.plans.push(install_plan("a"));
        assert_eq!(compare(&plan, &observed).0.len(), 0, "one of them is as shown");
    }

    #[test]
    fn plans_of_other_csvs_are_strangers() {
        let mut other = install_plan("b");
        other.metadata.name = Some("install-b".to_owned());
        let shown = json!({"hops": [hop("Manual", "a")]});
        let found = strangers(&[&shown], &[install_plan("a"), other]);
        assert_eq!(found, BTreeSet::from(["install-b".to_owned()]));
    }

    #[test]
    fn those_that_wait_are_counted() {
        let plan = json!({"hops": [hop("Automatic", "a"), hop("Manual", "b")]});
        assert_eq!(waiting(&plan), 1);
        assert!(are_shown(&plan) && !are_shown(&json!({"hops": []})));
    }
}
