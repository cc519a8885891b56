//! Verdicts on plans and on what was done.

use rstest::rstest;
use serde_json::{from_value, json};

use super::super::window::{PUBLISHED, WRITTEN};
use super::*;
use crate::audit::Write;

fn created(object: &str) -> Write {
    Write::example("olm-operator", "create", object)
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
    let answer = Answer { plan: Ok(plan), ..Answer::without_plan(String::new()) };
    let writes = objects.iter().map(|object| created(object)).collect();
    let meanwhile = BTreeSet::from(["roles ns/r".to_owned()]);
    let window = Window { writes, meanwhile, ended_by, has_other_groups: false };
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
#[case::refused(json!({"refused": {"kettle": "no channel"}}), &[], Verdict::Refused)]
#[case::step_fails(
    { let mut plan = plan(); plan["problems"] = json!(["p"]); plan["hops"][0]["bundles"][0]["csv"] = json!("other"); plan },
    &["installplans ns/"], Verdict::Refused)]
#[case::step_did_not_fail({ let mut plan = plan(); plan["problems"] = json!(["p"]); plan }, &["installplans ns/"],
    Verdict::Other(vec!["it was installed, and this was shown: p".to_owned()]))]
#[case::unread(json!({"unknown": ["bundle image i"]}), &[], Verdict::Unread)]
#[case::unread_of_these({ let mut plan = plan(); plan["unknown"] = json!(["bundle image i"]); plan },
    &["installplans ns/"], Verdict::Begun(NOT_READ))]
#[case::unread_of_others({ let mut plan = plan(); plan["unknown"] = json!(["bundle image i"]);
    plan["hops"][0]["bundles"][0]["csv"] = json!("other"); plan }, &["installplans ns/"],
    Verdict::Other(vec!["an InstallPlan was made of other CSVs than were shown".to_owned()]))]
#[case::nothing_new(json!({"hops": []}), &[], Verdict::Whole(0))]
#[case::refused_and_done(json!({"problems": ["p"]}), &["installplans ns/"],
    Verdict::Other(vec!["it was installed, and this was shown: p".to_owned()]))]
#[case::kind_came_later(json!({"problems": [NO_API]}), &["installplans ns/"], Verdict::NotComparable(LATE_KIND))]
#[case::nothing_and_done(json!({"hops": []}), &["installplans ns/"],
    Verdict::Other(vec!["an InstallPlan was made, and none was shown".to_owned()]))]
fn without_steps(#[case] plan: Value, #[case] objects: &[&str], #[case] expected: Verdict) {
    let plans = [install_plan("Complete", "a")];
    assert_eq!(verdict(plan, &plans, objects, None), expected);
}

/// Three versions in a row, of which the second brings a Role.
#[rstest]
#[case::at_the_end(3, &["services ns/a"], Verdict::Whole(2))]
#[case::what_stays_was_not_shown(3, &["services ns/a", "roles ns/s"],
    Verdict::Other(vec!["created: roles ns/s was done, and not shown".to_owned()]))]
#[case::on_the_way(2, &["services ns/a", "roles ns/s"], Verdict::Begun(NOT_COMPLETE))]
fn of_several_versions_the_end_is_compared(
    #[case] done: usize,
    #[case] objects: &[&str],
    #[case] expected: Verdict,
) {
    let csvs = ["kettle.v0", "kettle.v0.1", "kettle.v1"];
    let hop = |csv: &str| json!({"bundles": [{"csv": csv}], "steps": ["Service/a"]});
    let mut plan = plan();
    plan["hops"] = json!(csvs.map(hop));
    let mut plans = csvs.map(|csv| {
        let mut made = install_plan("Complete", "a");
        made.spec.cluster_service_version_names = vec![csv.to_owned()];
        made
    });
    if done < plans.len() {
        plans[done] =
            InstallPlan { spec: plans[done].spec.clone(), ..install_plan("RequiresApproval", "a") };
    }
    assert_eq!(verdict(plan, &plans, objects, None), expected);
}

/// What is shown beside a plan that shows nothing, or is refused.
#[rstest]
#[case::of_another(json!({"hops": []}), plan(), false, Verdict::Whole(0))]
#[case::of_none(json!({"hops": []}), json!({"hops": []}), false, Verdict::Other(vec![
    "an InstallPlan was made, and none was shown".to_owned(),
    "created: services ns/a was done, and not shown".to_owned()]))]
#[case::refused(json!({"problems": ["p"]}), plan(), false, Verdict::Refused)]
#[case::no_more(json!({"problems": ["p"]}), json!({}), true, Verdict::NotComparable(OTHER_GROUPS))]
#[case::another_is_refused(
    { let mut plan = plan(); plan["refused"] = json!({"spoon": "no channel"}); plan },
    json!({"refused": {"spoon": "no channel"}}), false, Verdict::Whole(2))]
fn what_another_subscription_gets_is_not_compared(
    #[case] shown: Value,
    #[case] beside: Value,
    #[case] has_other_groups: bool,
    #[case] expected: Verdict,
) {
    let answer =
        Answer { plan: Ok(shown), beside: vec![beside], ..Answer::without_plan(String::new()) };
    let writes = ["installplans ns/install-a", "services ns/a"].map(created).into();
    let window = Window { writes, has_other_groups, ..Window::default() };
    let (namespace, plans) = ("ns", vec![install_plan("Complete", "a")]);
    let succeeded = BTreeSet::from(["kettle.v1".to_owned()]);
    let observed = Observed { namespace, window: &window, plans, succeeded };
    assert_eq!(decide(&answer, &observed), expected);
}

/// Whatever the scenario does otherwise.
#[rstest]
#[case::refused(Ok(json!({"refused": {"kettle": "no channel"}})), false, Verdict::Refused)]
#[case::no_package(Err("error: no catalog that was read has it".to_owned()), false, Verdict::Refused)]
#[case::unread(Ok(json!({"unknown": ["bundle image i"]})), false, Verdict::Unread)]
#[case::something_is_there(Ok(json!({"problems": ["p"]})), true, Verdict::NotComparable(WRITTEN))]
fn what_was_refused_stays_so_while_nothing_is_installed(
    #[case] plan: Result<Value, String>,
    #[case] is_there: bool,
    #[case] expected: Verdict,
) {
    let window = Window { ended_by: Some(WRITTEN), ..Window::default() };
    let plans = is_there.then(|| install_plan("Complete", "a")).into_iter().collect();
    let (namespace, succeeded) = ("ns", BTreeSet::new());
    let observed = Observed { namespace, window: &window, plans, succeeded };
    let answer = Answer { plan, ..Answer::without_plan(String::new()) };
    assert_eq!(decide(&answer, &observed), expected);
}

#[test]
fn what_was_under_way_is_not_compared() {
    let window = Window::default();
    let observed = Observed {
        namespace: "ns",
        window: &window,
        plans: Vec::new(),
        succeeded: BTreeSet::new(),
    };
    let decided = |plan, not_compared| {
        let answer = Answer { plan, not_compared, ..Answer::without_plan(String::new()) };
        decide(&answer, &observed)
    };
    let under_way = Verdict::NotComparable("under way");
    assert_eq!(decided(Ok(plan()), Some("under way")), under_way);
    assert_eq!(decided(Err(String::new()), Some("under way")), under_way);
    let no_plan = decided(Err("no such cluster".to_owned()), None);
    assert_eq!(no_plan, Verdict::NotComparable(NO_PLAN));
    let no_package =
        decided(Err("error: no catalog that was read has the package a".to_owned()), None);
    assert_eq!(no_package, Verdict::Refused);
}
