//! What a Subscription to package `lamp`, which has version 1.0.0 and follows a plan for `lamp.v2`, holds back.

use olm_types::annotations::{APPROVE, ASKED_BY, PAUSE, PROPERTIES};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::{Declared, declared};
use super::*;

/// A step for a CSV of that version of that package; of none when there is no package.
fn step(csv: &str, package: &str, version: &str) -> Value {
    let package =
        json!({"type": "olm.package", "value": {"packageName": package, "version": version}});
    let properties = json!({"properties": [package]}).to_string();
    let manifest = json!({"metadata": {"annotations": {PROPERTIES: properties}}}).to_string();
    json!({
        "resolving": csv,
        "resource": {"kind": "ClusterServiceVersion", "name": csv, "manifest": manifest},
    })
}

/// A plan that waits, made for these Subscriptions.
fn plan(steps: &[Value], owners: &[&str]) -> InstallPlan {
    let owner = |name: &&str| json!({"apiVersion": "v1", "kind": "Subscription", "name": name, "uid": name});
    let owners: Vec<Value> = owners.iter().map(owner).collect();
    serde_json::from_value(json!({
        "metadata": {"name": "install-x", "namespace": "ns", "ownerReferences": owners},
        "spec": {"approval": "Manual", "clusterServiceVersionNames": ["lamp.v2"]},
        "status": {"phase": "RequiresApproval", "plan": steps},
    }))
    .unwrap()
}

fn subscription(annotations: Value, starting_csv: &str) -> Subscription {
    serde_json::from_value(json!({
        "metadata": {"name": "lamp", "namespace": "ns", "uid": "lamp", "annotations": annotations},
        "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns", "startingCSV": starting_csv},
        "status": {"installedCSV": "lamp.v1", "currentCSV": "lamp.v2", "lastUpdated": null},
    }))
    .unwrap()
}

/// The key and the CSV that is not accepted.
fn held(one: &Subscription, plan: &InstallPlan) -> Option<(&'static str, String)> {
    let hold = hold(one, one.status.as_ref(), plan)?;
    let csv = hold.why.split(' ').find(|word| word.contains(".v"));
    Some((hold.key, csv.unwrap_or_default().to_owned()))
}

#[rstest]
#[case::outside("<2", vec![step("lamp.v2", "lamp", "2.0.0")], Some("lamp.v2"))]
#[case::inside("<3", vec![step("lamp.v2", "lamp", "2.0.0")], None)]
#[case::as_it_is_written("<3", vec![step("lamp.v2", "lamp", "v2.0")], None)]
#[case::a_prerelease("<3", vec![step("lamp.v2", "lamp", "2.0.0-rc.1")], Some("lamp.v2"))]
#[case::no_version("<3", vec![step("lamp.v2", "lamp", "two")], Some("lamp.v2"))]
#[case::a_dependency("<3", vec![step("lamp.v2", "lamp", "2.0.0"), step("wire.v9", "wire", "9.0.0")], None)]
#[case::not_what_it_moves_to("<3", vec![step("lamp.v2", "lamp", "2.0.0"), step("lamp.v3", "lamp", "3.0.0")], Some("lamp.v3"))]
#[case::twice_by_one_name("<3", vec![step("lamp.v2", "lamp", "2.0.0"), step("lamp.v2", "lamp", "9.0.0")], Some("lamp.v2"))]
#[case::no_package_is_known("<3", vec![step("lamp.v2", "other", "2.0.0")], Some("lamp.v2"))]
#[case::no_step("<3", vec![], Some("lamp.v2"))]
#[case::unreadable("=>1", vec![step("lamp.v2", "lamp", "2.0.0")], None)]
fn a_plan_is_judged_by_what_it_brings_of_the_package(
    #[case] range: &str,
    #[case] steps: Vec<Value>,
    #[case] expected: Option<&str>,
) {
    let one = subscription(json!({VERSION_RANGE: range}), "");
    let expected = expected.map(|csv| (VERSION_RANGE, csv.to_owned()));
    assert_eq!(held(&one, &plan(&steps, &["lamp"])), expected);
}

#[test]
fn what_is_not_accepted_is_named_with_the_range() {
    let one = subscription(json!({VERSION_RANGE: ">=1.2, <2"}), "");
    let plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["lamp"]);
    let why = hold(&one, one.status.as_ref(), &plan).unwrap().why;
    let expected = r#"accepts only ">=1.2, <2" (annotation olm-rs.dev/version-range), and lamp.v2 is not in it; to let it go on, widen the range"#;
    assert_eq!(why, expected);
}

/// What the plan is recorded to lead pinned Subscriptions to.
fn recorded(plan: &mut InstallPlan, pins: &[(&str, &str)]) {
    let pins = pins.iter().map(|(name, csv)| ((*name).to_owned(), (*csv).to_owned()));
    let asked = Requesters { pins: pins.collect(), ..Requesters::default() };
    plan.annotations_mut().insert(ASKED_BY.to_owned(), asked.annotation());
}

/// The Subscription of a plan for itself alone, and of one that another one asks for as well, with this record.
#[rstest]
#[case::what_the_plan_brings("lamp.v2", &["lamp"], None, None)]
#[case::what_is_installed("lamp.v1", &["lamp"], None, Some("lamp.v1, which is installed"))]
#[case::made_before_the_pin("lamp.v3", &["lamp"], None, Some("lamp.v3, and lamp.v2 is not known to lead there"))]
#[case::made_for_it("lamp.v3", &["lamp", "shade"], Some(("lamp", "lamp.v3")), None)]
#[case::made_for_another_one("lamp.v3", &["lamp", "shade"], Some(("shade", "lamp.v3")), Some("lamp.v3, and"))]
#[case::it_moved_since("lamp.v9", &["lamp", "shade"], Some(("lamp", "lamp.v3")), Some("lamp.v9, and"))]
#[case::shared_before_the_pin("lamp.v3", &["lamp", "shade"], Some(("", "")), Some("lamp.v3, and"))]
#[case::one_for_all_as_in_v0("lamp.v3", &["lamp", "shade"], None, None)]
#[case::for_others("lamp.v3", &["shade"], None, Some("lamp.v3, and"))]
fn a_pin_accepts_what_is_known_to_lead_there(
    #[case] pin: &str,
    #[case] owners: &[&str],
    #[case] record: Option<(&str, &str)>,
    #[case] expected: Option<&str>,
) {
    let one = subscription(json!({PIN: "true"}), pin);
    let mut plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], owners);
    if let Some(record) = record {
        recorded(&mut plan, &[record]);
    }
    let hold = hold(&one, one.status.as_ref(), &plan);
    assert_eq!(hold.is_some(), expected.is_some(), "{hold:?}");
    if let (Some(hold), Some(text)) = (hold, expected) {
        assert_eq!(hold.key, PIN);
        assert!(hold.why.starts_with(&format!("is pinned to {text}")), "{}", hold.why);
    }
}

/// Where nothing is recorded, a plan is held once the pin is refused, or the Subscription moves elsewhere.
#[rstest]
#[case::refused("lamp.v2", json!([{"type": "ResolutionFailed", "status": "True", "reason": "x"}]), true)]
#[case::refused_no_more("lamp.v2", json!([{"type": "ResolutionFailed", "status": "False", "reason": ""}]), false)]
#[case::elsewhere("lamp.v3", json!([]), true)]
fn the_last_resolution_counts_where_one_plan_is_for_all(
    #[case] current: &str,
    #[case] conditions: Value,
    #[case] is_held: bool,
) {
    let mut one = subscription(json!({PIN: "true"}), "lamp.v9");
    let status = json!({"installedCSV": "lamp.v1", "currentCSV": current, "conditions": conditions,
        "lastUpdated": null});
    one.status = serde_json::from_value(status).unwrap();
    let plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["lamp", "shade"]);
    assert_eq!(hold(&one, one.status.as_ref(), &plan).is_some(), is_held);
}

/// Version and number of the plan that the Subscription follows, and what became of the step for lamp.v2 of plan 1.
#[rstest]
#[case::follows_it("lamp.v2", 1, StepStatus::Unknown, false)]
#[case::does_not_say_so_yet("lamp.v3", 1, StepStatus::Unknown, false)]
#[case::moved_on("lamp.v3", 2, StepStatus::Unknown, true)]
#[case::moved_on_from_what_is_there("lamp.v3", 2, StepStatus::Created, false)]
#[case::it_is_tried_again("lamp.v2", 2, StepStatus::Unknown, false)]
fn who_follows_a_newer_plan_has_left_one_that_failed(
    #[case] current: &str,
    #[case] generation: i64,
    #[case] status: StepStatus,
    #[case] expected: bool,
) {
    let mut one = subscription(json!({}), "");
    let followed = json!({"installedCSV": "lamp.v1", "currentCSV": current,
        "installPlanGeneration": generation, "lastUpdated": null});
    one.status = serde_json::from_value(followed).unwrap();
    let mut plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["lamp"]);
    plan.spec.generation = Some(1);
    plan.status.as_mut().unwrap().plan[0].status = status;
    assert_eq!(has_left(&one, &plan), expected);
}

/// CSVs come first: what is missing may be a right of one that is installed by now, and stays.
#[rstest]
#[case::to_come(StepStatus::Unknown, true)]
#[case::made(StepStatus::Created, false)]
#[case::found(StepStatus::Present, false)]
fn a_failed_plan_is_finished_for_a_csv_that_is_there(
    #[case] status: StepStatus,
    #[case] is_released: bool,
) {
    let one = subscription(json!({VERSION_RANGE: "<2"}), "");
    let mut plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["lamp"]);
    plan.status.as_mut().unwrap().plan[0].status = status;
    assert_eq!(releases(&one, one.status.as_ref(), &plan).is_some(), is_released);
}

/// What the pinned operator needs is not of its package.
#[test]
fn a_pin_holds_no_plan_for_a_dependency() {
    let one = subscription(json!({PIN: "true"}), "lamp.v1");
    let mut plan = plan(&[step("wire.v2", "wire", "2.0.0")], &["lamp", "wire"]);
    plan.spec.cluster_service_version_names = vec!["wire.v2".to_owned()];
    assert_eq!(hold(&one, one.status.as_ref(), &plan), None);
}

/// Neither a user nor an annotation has the plan begun: whoever it was made for, and whatever approves it.
#[rstest]
#[case::its_own(&["lamp"])]
#[case::of_another_one(&["shade"])]
fn an_approval_does_not_widen_a_range(#[case] owners: &[&str]) {
    let mut one = subscription(json!({VERSION_RANGE: "<2", APPROVE: "lamp.v2"}), "");
    let plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], owners);
    let expected = "waits for approval: Subscription lamp accepts only \"<2\" \
                    (annotation olm-rs.dev/version-range), and lamp.v2 is not in it; to let it go on, widen the \
                    range";
    assert_eq!(declared(&plan, [&one]), Declared::Waiting(expected.to_owned()));
    assert_eq!(super::super::held(&plan, [&one]).as_deref(), Some(expected));
    one.annotations_mut().insert(VERSION_RANGE.to_owned(), "<3".to_owned());
    assert_eq!(super::super::held(&plan, [&one]), None);
    let is_approved = matches!(declared(&plan, [&one]), Declared::Approved(_));
    assert_eq!(is_approved, owners == ["lamp"]);
}

#[test]
fn who_is_going_and_plans_by_hand_are_not_asked() {
    let mut one = subscription(json!({VERSION_RANGE: "<2"}), "");
    let by_hand = plan(&[step("lamp.v2", "lamp", "2.0.0")], &[]);
    assert_eq!(super::super::held(&by_hand, [&one]), None);
    one.metadata.deletion_timestamp =
        Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
    let plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["lamp"]);
    assert_eq!(super::super::held(&plan, [&one]), None);
}

/// A Subscription that came after the plan for what another one needs, and is paused: its package is not brought.
#[rstest]
#[case::paused(PAUSE, "true", true, "nothing is begun until it is removed")]
#[case::paused_by_mistake(PAUSE, "yes", true, "annotation olm-rs.dev/pause has to be \"true\" or")]
#[case::a_range_that_cannot_be_read(
    VERSION_RANGE,
    "=>1",
    true,
    "annotation olm-rs.dev/version-range has to be"
)]
#[case::not_paused(PAUSE, "false", false, "")]
fn a_plan_of_another_one_does_not_bring_the_package_of_one_that_is_held(
    #[case] key: &str,
    #[case] value: &str,
    #[case] is_held: bool,
    #[case] helps: &str,
) {
    let mut one = subscription(json!({key: value}), "");
    one.status = None;
    let brings = plan(&[step("lamp.v2", "lamp", "2.0.0")], &["shade"]);
    let why = super::super::held(&brings, [&one]);
    assert_eq!(why.is_some(), is_held, "{why:?}");
    let begin = format!("waits for approval: Subscription lamp has annotation {key}: {helps}");
    assert!(why.is_none_or(|why| why.starts_with(&begin)));
    let other = plan(&[step("lamp.v2", "wire", "2.0.0")], &["shade"]);
    assert_eq!(super::super::held(&other, [&one]), None, "it brings another package");
}
