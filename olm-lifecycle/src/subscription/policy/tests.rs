//! What annotations of Subscriptions declare.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn subscription(annotations: Value, installed: Option<&str>) -> Subscription {
    serde_json::from_value(json!({
        "metadata": {"name": "lamp", "annotations": annotations},
        "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns",
            "installPlanApproval": "Manual"},
        "status": {"installedCSV": installed, "lastUpdated": null},
    }))
    .unwrap()
}

#[rstest]
#[case::first(json!({FIRST_INSTALL: "Automatic"}), None, Approval::Automatic)]
#[case::later(json!({FIRST_INSTALL: "Automatic"}), Some("lamp.v1"), Approval::Manual)]
#[case::malformed(json!({FIRST_INSTALL: "automatic"}), None, Approval::Manual)]
#[case::without(json!({}), None, Approval::Manual)]
fn only_the_first_plan_needs_no_approval(
    #[case] annotations: Value,
    #[case] installed: Option<&str>,
    #[case] expected: Approval,
) {
    assert_eq!(approval(&subscription(annotations, installed)), expected);
}

#[rstest]
#[case::two("lamp.v1, shade.v1.2.0", Some(vec!["lamp.v1", "shade.v1.2.0"]))]
#[case::empty("", None)]
#[case::comma_at_the_end("lamp.v1,", None)]
#[case::capitals("Lamp.v1", None)]
#[case::ends_with_a_dot("lamp.", None)]
fn names_are_separated_by_commas(#[case] value: &str, #[case] expected: Option<Vec<&str>>) {
    let subscription = subscription(json!({APPROVE: value}), None);
    let found = approved(&subscription).unwrap();
    assert_eq!(found.ok(), expected);
}

#[rstest]
#[case::paused("true", true, Some("annotation olm-rs.dev/pause: nothing new"), None)]
#[case::not_paused("false", false, None, None)]
#[case::malformed(
    "yes",
    true,
    Some("annotation olm-rs.dev/pause: nothing new"),
    Some("not \"yes\"")
)]
#[case::empty("", true, Some("annotation olm-rs.dev/pause: nothing new"), Some("not \"\""))]
fn a_pause_holds_even_when_it_is_malformed(
    #[case] value: &str,
    #[case] paused: bool,
    #[case] held: Option<&str>,
    #[case] invalid: Option<&str>,
) {
    let subscription = subscription(json!({PAUSE: value}), None);
    assert_eq!(is_held(&subscription), paused);
    let before = SubscriptionStatus::default();
    let status = reconcile(&before, &subscription, Timestamp::UNIX_EPOCH).unwrap_or(before);
    for (kind, expected) in [(UPGRADE_HELD, held), (ANNOTATIONS_INVALID, invalid)] {
        let found = conditions::get(&status, kind).and_then(|one| one.message.as_deref());
        match expected {
            Some(text) => assert!(found.unwrap().contains(text), "{found:?}"),
            None => assert_eq!(found, None),
        }
    }
}

fn reported(subscription: &Subscription, kind: &str) -> Option<(String, String)> {
    let before = SubscriptionStatus::default();
    let status = reconcile(&before, subscription, Timestamp::UNIX_EPOCH).unwrap_or(before);
    let found = conditions::get(&status, kind)?;
    Some((found.reason.clone().unwrap_or_default(), found.message.clone().unwrap_or_default()))
}

#[rstest]
#[case::pin(json!({PIN: "true"}), "lamp.v1", None)]
#[case::no_pin(json!({PIN: "false"}), "", None)]
#[case::malformed_pin(json!({PIN: "lamp.v2"}), "lamp.v1", Some("has to be \"true\" or \"false\", not \"lamp.v2\""))]
#[case::pinned_to_nothing(json!({PIN: "true"}), "", Some("needs the name of a CSV in spec.startingCSV"))]
#[case::range(json!({VERSION_RANGE: ">=1.2, <2"}), "", None)]
#[case::malformed_range(json!({VERSION_RANGE: "latest"}), "", Some("not \"latest\": \"latest\" is no version"))]
fn what_is_declared_about_versions_and_cannot_be_read_holds_everything(
    #[case] annotations: Value,
    #[case] starting_csv: &str,
    #[case] expected: Option<&str>,
) {
    let mut subscription = subscription(annotations, Some("lamp.v1"));
    subscription.spec.starting_csv = Some(starting_csv.to_owned());
    assert_eq!(is_held(&subscription), expected.is_some());
    let (invalid, held) =
        (reported(&subscription, ANNOTATIONS_INVALID), reported(&subscription, UPGRADE_HELD));
    match expected {
        Some(text) => {
            let (_, message) = invalid.unwrap();
            assert!(message.contains(text), "{message}");
            assert_eq!(held.unwrap().0, "MalformedValue");
        }
        None => assert_eq!((invalid, held), (None, None)),
    }
}

/// While a plan waits for approval, or a catalog is being loaded, no resolution takes it back.
#[rstest]
#[case::range(BY_RANGE, json!({VERSION_RANGE: "<2"}), true)]
#[case::range_is_gone(BY_RANGE, json!({}), false)]
#[case::range_is_gone_and_a_pin_is_there(BY_RANGE, json!({PIN: "true"}), false)]
#[case::pin(PINNED, json!({PIN: "true"}), true)]
#[case::pin_and_range(PINNED, json!({PIN: "true", VERSION_RANGE: "<2"}), true)]
#[case::pin_is_off(PINNED, json!({PIN: "false"}), false)]
#[case::pin_is_gone_and_a_range_is_there(PINNED, json!({VERSION_RANGE: "<2"}), false)]
fn what_a_resolution_holds_back_stays_reported(
    #[case] reason: &str,
    #[case] annotations: Value,
    #[case] stays: bool,
) {
    let mut subscription = subscription(annotations, Some("lamp.v1"));
    subscription.spec.starting_csv = Some("lamp.v1".to_owned());
    let mut status = SubscriptionStatus::default();
    conditions::set(&mut status, conditions::holding(UPGRADE_HELD, reason, None));
    let after = reconcile(&status, &subscription, Timestamp::UNIX_EPOCH);
    assert_eq!(after.is_none(), stays);
    assert!(after.is_none_or(|after| after.conditions.is_empty()));
}

#[test]
fn a_pin_approves_its_version() {
    let mut pinned = subscription(json!({PIN: "true", APPROVE: "shade.v1"}), Some("lamp.v1"));
    pinned.spec.starting_csv = Some("lamp.v2".to_owned());
    assert_eq!(approval(&pinned), Approval::Automatic);
    assert_eq!(approved(&pinned), Some(Ok(vec!["shade.v1", "lamp.v2"])));
    pinned.annotations_mut().remove(APPROVE);
    assert_eq!(approved(&pinned), Some(Ok(vec!["lamp.v2"])));
    pinned.annotations_mut().insert(PIN.to_owned(), "false".to_owned());
    assert_eq!((approval(&pinned), approved(&pinned)), (Approval::Manual, None));
}

#[test]
fn messages_repeat_the_beginning_of_long_values() {
    let long = "x y".repeat(80_000);
    let all =
        json!({APPROVE: long, FIRST_INSTALL: long, PAUSE: long, PIN: long, VERSION_RANGE: long});
    assert!(problems(&subscription(all, None)).len() < 1_000);
}

/// The API server would refuse the status, and with it everything else that it says.
#[test]
fn a_message_is_about_a_few_of_many_annotations() {
    let all: serde_json::Map<String, Value> =
        (0..10_000).map(|number| (format!("{OURS}{number}"), json!(""))).collect();
    let message = problems(&subscription(Value::Object(all), None));
    assert!(message.ends_with("; 9995 more annotations cannot be read"), "{message}");
    assert!(message.len() < 2_000, "{}", message.len());
}

#[test]
fn an_approval_is_no_longer_than_a_plan_can_record() {
    let names = vec!["lamp.v1.0.0"; 2_000].join(",");
    let long = subscription(json!({APPROVE: names}), None);
    let error = approved(&long).unwrap().unwrap_err();
    assert!(error.contains("has 23999 bytes, and may have 16384"), "{error}");
    for (length, is_name) in [(253, true), (254, false)] {
        let one = subscription(json!({APPROVE: "a".repeat(length)}), None);
        assert_eq!(approved(&one).unwrap().is_ok(), is_name, "{length}");
    }
}

#[test]
fn malformed_annotations_are_reported_until_they_are_mended() {
    let now = Timestamp::UNIX_EPOCH;
    let bad = json!({"olm-rs.dev/aprove": "x", APPROVE: "a b", FIRST_INSTALL: "yes", "other": "x"});
    let reported = reconcile(&SubscriptionStatus::default(), &subscription(bad.clone(), None), now);
    let reported = reported.unwrap();
    insta::assert_snapshot!(reported.conditions[0].message.clone().unwrap(), @r#"annotation olm-rs.dev/approve has to be names of CSVs, separated by commas, as in "guestbook.v1.4.2"; "a b" is none; annotation "olm-rs.dev/aprove" is unknown; olm-rs.dev/ has approve, first-install, pause, pin, version-range; annotation olm-rs.dev/first-install has to be "Automatic", not "yes""#);
    assert_eq!(reconcile(&reported, &subscription(bad, None), now), None);
    let mended = reconcile(&reported, &subscription(json!({}), None), now).unwrap();
    assert!(mended.conditions.is_empty());
    assert_eq!(reconcile(&mended, &subscription(json!({}), None), now), None);
}

/// A plan that waits may be approved by a pin that moves.
#[test]
fn what_is_declared_changes_with_the_pinned_csv() {
    let mut moved = subscription(json!({PIN: "true", "other": "x"}), None);
    moved.spec.starting_csv = Some("lamp.v1".to_owned());
    assert_eq!(declarations(&moved), [(PIN, "true"), ("startingCSV", "lamp.v1")]);
    let refused = conditions::holding(RESOLUTION_FAILED, "ConstraintsNotSatisfiable", None);
    conditions::set(moved.status.as_mut().unwrap(), refused);
    let expected = [(PIN, "true"), ("startingCSV", "lamp.v1"), (RESOLUTION_FAILED, "lamp.v1")];
    assert_eq!(declarations(&moved), expected);
    moved.annotations_mut().insert(PIN.to_owned(), "false".to_owned());
    assert_eq!(declarations(&moved), [(PIN, "false")]);
}
