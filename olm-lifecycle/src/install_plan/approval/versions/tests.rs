//! What a Subscription to package `lamp`, which has version 1.0.0 and follows a plan for `lamp.v2`, holds back.

use olm_types::annotations::{APPROVE, PROPERTIES};
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
    let expected = r#"accepts only ">=1.2, <2" (annotation olm-rs.dev/version-range), and lamp.v2 is not in it"#;
    assert_eq!(why, expected);
}

/// Neither a user nor an annotation has the plan begun: whoever it was made for, and whatever approves it.
#[rstest]
#[case::its_own(&["lamp"])]
#[case::of_another_one(&["shade"])]
fn an_approval_does_not_widen_a_range(#[case] owners: &[&str]) {
    let mut one = subscription(json!({VERSION_RANGE: "<2", APPROVE: "lamp.v2"}), "");
    let plan = plan(&[step("lamp.v2", "lamp", "2.0.0")], owners);
    let expected = "waits for approval: Subscription lamp accepts only \"<2\" \
                    (annotation olm-rs.dev/version-range), and lamp.v2 is not in it";
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
