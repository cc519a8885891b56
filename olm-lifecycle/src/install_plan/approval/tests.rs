//! What Subscriptions say about the approval of their InstallPlans.

use olm_effect::Action;
use olm_types::annotations::{FIRST_INSTALL, PAUSE, PIN};
use rstest::rstest;

use super::*;

fn subscription(name: &str, approve: Option<&str>) -> Subscription {
    let annotations = approve.map(|value| json!({APPROVE: value}));
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "7",
            "annotations": annotations},
        "spec": {"name": name, "source": "c", "sourceNamespace": "ns"},
    }))
    .unwrap()
}

fn plan(names: &[&str], step: &str) -> InstallPlan {
    let owner = |name: &str| {
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "name": name,
            "uid": name})
    };
    serde_json::from_value(json!({
        "metadata": {"name": "install-x", "namespace": "ns", "resourceVersion": "3",
            "ownerReferences": [owner("lamp"), owner("shade")]},
        "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": names},
        "status": {"phase": "RequiresApproval", "catalogSources": [], "plan": [{
            "resolving": step, "status": "Unknown",
            "resource": {"group": "", "version": "v1alpha1", "kind": "ClusterServiceVersion", "name": step,
                "sourceName": "c", "sourceNamespace": "ns"},
        }]},
    }))
    .unwrap()
}

fn said(lamp: Option<&str>, shade: Option<&str>, dependency: &str) -> Declared {
    let subscriptions = [subscription("lamp", lamp), subscription("shade", shade)];
    declared(&plan(&["lamp.v2", "shade.v1"], dependency), &subscriptions)
}

#[rstest]
#[case::no_annotation(None, None, "lamp.v2", "")]
#[case::one_of_two(Some("lamp.v2"), None, "lamp.v2", "names shade.v1 in its")]
#[case::another_version(Some("lamp.v1,shade.v1"), None, "lamp.v2", "names lamp.v2 in its")]
#[case::a_dependency(Some("lamp.v2, shade.v1"), None, "wire.v1", "names wire.v1 in its")]
#[case::empty(
    Some(""),
    None,
    "lamp.v2",
    "Subscription lamp: annotation olm-rs.dev/approve has to be"
)]
#[case::malformed(Some("lamp.v2"), Some("shade v1"), "lamp.v2", "\"shade v1\" is none")]
#[case::capitals(Some("Lamp.v2"), None, "lamp.v2", "\"Lamp.v2\" is none")]
fn what_is_not_approved_waits(
    #[case] lamp: Option<&str>,
    #[case] shade: Option<&str>,
    #[case] dependency: &str,
    #[case] expected: &str,
) {
    match said(lamp, shade, dependency) {
        Declared::Nothing => assert_eq!(expected, ""),
        Declared::Waiting(message) => {
            assert!(!expected.is_empty() && message.contains(expected), "{message}");
        }
        Declared::Approved(_) => panic!("it is approved"),
    }
}

#[rstest]
#[case::in_one_place(Some("lamp.v2, shade.v1"), None)]
#[case::each_its_own(Some("lamp.v2"), Some("shade.v1"))]
#[case::and_older_ones(Some("lamp.v1,lamp.v2,shade.v1"), None)]
fn a_plan_that_brings_what_is_named_is_approved(
    #[case] lamp: Option<&str>,
    #[case] shade: Option<&str>,
) {
    let Declared::Approved(effect) = said(lamp, shade, "lamp.v2") else {
        panic!("it is not approved")
    };
    let Action::MergePatch { patch, .. } = effect.action else { panic!("no patch") };
    assert_eq!(patch["spec"], json!({"approved": true}));
    assert_eq!(patch["metadata"]["resourceVersion"], "3");
    let by: Value =
        serde_json::from_str(patch["metadata"]["annotations"][APPROVED_BY].as_str().unwrap())
            .unwrap();
    assert_eq!(by[0]["subscription"], "lamp");
    assert_eq!(by[0]["approve"], lamp.unwrap());
    assert_eq!(by[0]["resourceVersion"], "7");
}

#[test]
fn a_paused_subscription_holds_the_plan_that_was_made_for_it() {
    let paused_with = |value: &str| {
        let mut lamp = subscription("lamp", Some("lamp.v2,shade.v1"));
        lamp.annotations_mut().insert(PAUSE.to_owned(), value.to_owned());
        lamp
    };
    let plan = plan(&["lamp.v2", "shade.v1"], "lamp.v2");
    let expected = "waits for approval: Subscription lamp has annotation olm-rs.dev/pause: nothing is begun until it \
                    is removed";
    let lamp = paused_with("true");
    assert_eq!(declared(&plan, [&lamp]), Declared::Waiting(expected.to_owned()));
    assert_eq!(held(&plan, [&lamp]).as_deref(), Some(expected));
    assert_eq!(held(&plan, [&paused_with("false")]), None);
    let mut other = paused_with("true");
    other.metadata.uid = Some("other".to_owned());
    assert_eq!(held(&plan, [&other]), None);
}

#[rstest]
#[case::installed(
    "lamp.v1",
    Some("lamp.v2"),
    Some(
        "Subscription lamp is pinned to lamp.v1, which is installed; to let it go on, name lamp.v2 in \
         spec.startingCSV, or remove annotation olm-rs.dev/pin"
    )
)]
#[case::on_the_way("lamp.v3", Some("lamp.v2"), None)]
#[case::of_another_plan("lamp.v1", Some("lamp.v9"), None)]
fn a_plan_does_not_lead_away_from_what_is_pinned(
    #[case] pin: &str,
    #[case] current: Option<&str>,
    #[case] expected: Option<&str>,
) {
    let mut lamp = subscription("lamp", None);
    lamp.annotations_mut().insert(PIN.to_owned(), "true".to_owned());
    lamp.spec.starting_csv = Some(pin.to_owned());
    let status = json!({"installedCSV": "lamp.v1", "currentCSV": current, "lastUpdated": null});
    lamp.status = serde_json::from_value(status).unwrap();
    let expected = expected.map(|text| format!("waits for approval: {text}"));
    assert_eq!(held(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), [&lamp]), expected);
}

#[rstest]
#[case::not_approved(None, "RequiresApproval", false, Some("to install lamp.v2, shade.v1"))]
#[case::another_version(Some("lamp.v1"), "RequiresApproval", false, Some("waits for approval"))]
#[case::in_annotations(Some("lamp.v2,shade.v1"), "RequiresApproval", false, None)]
#[case::approved(None, "RequiresApproval", true, None)]
#[case::needs_none(None, "Installing", false, None)]
fn that_a_plan_begins_to_wait_is_an_event(
    #[case] approve: Option<&str>,
    #[case] phase: &str,
    #[case] approved: bool,
    #[case] expected: Option<&str>,
) {
    let mut plan = plan(&["lamp.v2", "shade.v1"], "lamp.v2");
    plan.spec.approved = approved;
    plan.status.as_mut().unwrap().phase = phase.into();
    let effect = begins_to_wait(&plan, [&subscription("lamp", approve)]);
    let note = effect.map(|effect| match effect.action {
        Action::Event(note) => note,
        other => panic!("{other:?}"),
    });
    assert_eq!(note.is_some(), expected.is_some());
    if let (Some(note), Some(text)) = (note, expected) {
        assert_eq!(note.reason, "RequiresApproval");
        assert!(note.message.contains(text), "{}", note.message);
    }
}

#[test]
fn an_event_names_ten_csvs() {
    let names: Vec<String> = (10..50).map(|i| format!("lamp.v{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let effect = begins_to_wait(&plan(&names, "lamp.v10"), []).unwrap();
    let Action::Event(note) = effect.action else { panic!("no event") };
    assert!(note.message.ends_with("lamp.v19 and 30 more"), "{}", note.message);
}

#[test]
fn a_subscription_that_the_plan_was_not_made_for_approves_nothing() {
    let mut other = subscription("lamp", Some("lamp.v2,shade.v1"));
    other.metadata.uid = Some("other".to_owned());
    assert_eq!(declared(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), [&other]), Declared::Nothing);
    let mut going = subscription("lamp", Some("lamp.v2,shade.v1"));
    going.metadata.deletion_timestamp =
        Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
    assert_eq!(declared(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), [&going]), Declared::Nothing);
}

/// It is for people: whoever writes it himself has approved nothing.
#[test]
fn a_record_of_an_approval_approves_nothing() {
    let mut plan = plan(&["lamp.v2", "shade.v1"], "lamp.v2");
    let record = json!([{"subscription": "lamp", "approve": "lamp.v2,shade.v1"}]).to_string();
    plan.annotations_mut().insert(APPROVED_BY.to_owned(), record);
    assert_eq!(declared(&plan, [&subscription("lamp", None)]), Declared::Nothing);
    assert!(plan.waits_for_approval());
}

/// A first install may become free while its plan waits: then the plan is approved, and records why. It is the first one
/// of all that ask for it, or none.
#[rstest]
#[case::of_all(&[("lamp", None), ("shade", None)], &["lamp", "shade"], true)]
#[case::of_the_only_one(&[("lamp", None)], &["lamp"], true)]
#[case::something_is_installed(&[("lamp", Some("lamp.v1"))], &["lamp"], false)]
#[case::of_one_of_two(&[("lamp", None), ("shade", None)], &["lamp"], false)]
#[case::of_none(&[("lamp", None)], &[], false)]
fn a_first_install_that_becomes_free_is_approved(
    #[case] all: &[(&str, Option<&str>)],
    #[case] free: &[&str],
    #[case] expected: bool,
) {
    let declaring = |(name, installed): &(&str, Option<&str>)| {
        // What it approves besides does not matter.
        let mut one = subscription(name, Some("other.v1"));
        if free.contains(name) {
            one.annotations_mut().insert(FIRST_INSTALL.to_owned(), "Automatic".to_owned());
        }
        let status = json!({"installedCSV": installed, "lastUpdated": null});
        one.status = serde_json::from_value(status).unwrap();
        one
    };
    let subscriptions: Vec<Subscription> = all.iter().map(declaring).collect();
    match declared(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), &subscriptions) {
        Declared::Approved(effect) => {
            assert!(expected, "it is approved");
            let Action::MergePatch { patch, .. } = effect.action else { panic!("no patch") };
            let by = patch["metadata"]["annotations"][APPROVED_BY].as_str().unwrap();
            let by: Value = serde_json::from_str(by).unwrap();
            let by = by.as_array().unwrap();
            assert_eq!((by.len(), &by[0]["first-install"]), (all.len(), &json!(true)));
        }
        other => assert!(!expected, "{other:?}"),
    }
}
