//! Writes of one process to one object.

use super::*;

fn guarded(value: &str) -> Effect {
    let patch = json!({"metadata": {"resourceVersion": "5"}, "data": {"key": value}});
    Effect::merge(target(), patch, None)
}

fn with_store(script: &Script, version: &str) -> Interpreter {
    let map: ConfigMap = serde_json::from_value(object(version, "x")).unwrap();
    interpreter(script).with_store(config_maps(), Store::with_objects([map]))
}

fn names(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes.iter().map(outcome_name).collect()
}

#[tokio::test]
async fn a_write_for_an_older_version_is_refused_and_not_sent() {
    let script = Script::new();
    let outcomes = with_store(&script, "6").execute(&[guarded("y")]).await;
    let Some(refusal) = outcomes[0].refusal() else { panic!("{outcomes:?}") };
    assert!(refusal.is_conflict());
    assert_eq!(refusal.message, "ConfigMap ns/a is at version 6, and the write was for version 5");
    assert_eq!(script.requests().len(), 0);
}

#[rstest::rstest]
#[case::the_same("5")]
#[case::older_in_the_store("4")]
#[case::no_number("abc")]
#[tokio::test]
async fn any_other_write_is_sent(#[case] stored: &str) {
    let script = Script::new().answer(&format!("PATCH {ONE}"), 200, object("7", "y"));
    let outcomes = with_store(&script, stored).execute(&[guarded("y")]).await;
    assert_eq!(names(&outcomes), ["changed"]);
    script.finish();
}

/// Both were decided on version 5. The second one would conflict with the first.
#[tokio::test]
async fn of_two_writes_for_one_version_one_is_sent() {
    let script = Script::new().answer(&format!("PATCH {ONE}"), 200, object("6", "y"));
    let interpreter = with_store(&script, "5");
    let (one, two) = ([guarded("y")], [guarded("z")]);
    let (one, two) = tokio::join!(interpreter.execute(&one), interpreter.execute(&two));
    assert_eq!((names(&one), names(&two)), (vec!["changed"], vec!["refused"]));
    assert_eq!(script.finish().len(), 1);
}

/// As with definitions, which two InstallPlans read at the same time before they change them.
#[tokio::test]
async fn of_two_writes_to_what_no_store_has_one_is_sent() {
    let patch = format!("PATCH {ONE}");
    let script =
        Script::new().answer(&patch, 200, object("6", "y")).answer(&patch, 200, object("7", "w"));
    let interpreter = interpreter(&script);
    let (one, two) = ([guarded("y")], [guarded("z")]);
    let (one, two) = tokio::join!(interpreter.execute(&one), interpreter.execute(&two));
    assert_eq!((names(&one), names(&two)), (vec!["changed"], vec!["refused"]));
    assert!(two[0].refusal().is_some_and(Refusal::is_conflict));
    let read_again = json!({"metadata": {"resourceVersion": "6"}, "data": {"key": "w"}});
    let outcomes = interpreter.execute(&[Effect::merge(target(), read_again, None)]).await;
    assert_eq!(names(&outcomes), ["changed"]);
    assert_eq!(script.finish().len(), 2);
}

/// The first takes the last finalizer of an object that is being deleted; the second was decided before.
#[tokio::test]
async fn what_is_gone_by_an_own_write_is_not_written_to() {
    let mut gone = object("6", "x");
    gone["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    let script = Script::new().answer(&format!("PATCH {ONE}"), 200, gone);
    let outcomes = with_store(&script, "5").execute(&[guarded("y"), guarded("z")]).await;
    assert_eq!(names(&outcomes), ["changed", "refused"]);
    let Some(refusal) = outcomes[1].refusal() else { panic!("{outcomes:?}") };
    let expected = "ConfigMap ns/a was deleted at version 6, and the write was for version 5";
    assert_eq!((refusal.code, &*refusal.message), (409, expected));
    assert_eq!(script.finish().len(), 1);
}
