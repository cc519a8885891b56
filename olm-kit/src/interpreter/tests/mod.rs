//! Exact requests and outcomes, against a scripted API server.

mod accounts;
mod object_locks;
mod requests;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use olm_effect::{EventType, Propagation, Subresource};
use parking_lot::Mutex;
use serde_json::json;

use super::*;
use crate::scripted::Script;
use crate::watch::Store;

const ONE: &str = "/api/v1/namespaces/ns/configmaps/a?fieldManager=olm";
const ALL: &str = "/api/v1/namespaces/ns/configmaps?fieldManager=olm";

fn config_maps() -> Resource {
    Resource::new("", "v1", "ConfigMap", "configmaps")
}

fn target() -> Target {
    Target::namespaced(config_maps(), "ns", "a")
}

fn object(version: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": value},
        "metadata": {"namespace": "ns", "name": "a", "resourceVersion": version, "uid": "u"}})
}

fn effect(action: Action) -> Effect {
    Effect::new(target(), action)
}

fn create() -> Effect {
    Effect::create(target(), object("", "x"))
}

fn merge(patch: Value) -> Effect {
    Effect::merge(target(), patch, Some(object("5", "x")))
}

fn interpreter(script: &Script) -> Interpreter {
    Interpreter::new(script.client(), InterpreterOptions::new("olm"))
}

async fn outcome(script: &Script, effect: Effect) -> Outcome {
    interpreter(script).execute(&[effect]).await.pop().unwrap()
}

#[tokio::test]
async fn warnings_of_the_server_are_handed_on() {
    let script = Script::new()
        .answer(&format!("POST {ALL}"), 201, object("6", "x"))
        .header("warning", "299 - \"policy/v1beta1 is deprecated\"");
    let executed = interpreter(&script).execute_with_warnings(&[create()]).await;
    assert_eq!(executed[0].warnings, ["policy/v1beta1 is deprecated"]);
}

#[rstest::rstest]
#[case::exists(create(), 409, "AlreadyExists", Outcome::AlreadyExists)]
#[case::changed_absent(merge(json!({"data": null})), 404, "NotFound", Outcome::NotFound)]
#[case::deleted_absent(Effect::delete(target()), 404, "NotFound", Outcome::Deleted)]
#[case::stale(merge(json!({"data": null})), 409, "Conflict", refused(409, "Conflict"))]
#[case::forbidden(create(), 403, "Forbidden", refused(403, "Forbidden"))]
#[case::namespace_absent(create(), 404, "NotFound", refused(404, "NotFound"))]
#[tokio::test]
async fn refusals_keep_the_servers_words(
    #[case] effect: Effect,
    #[case] code: u16,
    #[case] reason: &str,
    #[case] expected: Outcome,
) {
    let request = match &effect.action {
        Action::Create(_) => format!("POST {ALL}"),
        Action::Delete { .. } => "DELETE /api/v1/namespaces/ns/configmaps/a".to_owned(),
        _ => format!("PATCH {ONE}"),
    };
    let script = Script::new().refuse(&request, code, reason, "the words: \"verbatim\"");
    let interpreter = interpreter(&script);
    assert_eq!(interpreter.execute(&[effect]).await, [expected]);
    assert_eq!(interpreter.writes(), 0);
}

fn refused(code: u16, reason: &str) -> Outcome {
    let message = "the words: \"verbatim\"".to_owned();
    Outcome::Refused(Refusal { code, reason: reason.to_owned(), message })
}

#[tokio::test]
async fn a_kind_that_is_not_served_is_a_refusal() {
    let script = Script::new().text(&format!("PATCH {ONE}"), 404, "404 page not found\n");
    let Outcome::Refused(refusal) = outcome(&script, merge(json!({"data": null}))).await else {
        panic!("not refused")
    };
    assert_eq!((refusal.code, refusal.reason.as_str()), (404, "NotFound"));
    assert_eq!(refusal.message, "404 page not found");
}

#[tokio::test]
async fn execution_stops_at_the_first_refusal() {
    let script = Script::new().answer(&format!("POST {ALL}"), 201, object("6", "x")).refuse(
        &format!("PATCH {ONE}"),
        422,
        "Invalid",
        "no",
    );
    let effects = [create(), merge(json!({"data": null})), create(), Effect::delete(target())];
    let outcomes = interpreter(&script).execute(&effects).await;
    let names: Vec<_> = outcomes.iter().map(outcome_name).collect();
    assert_eq!(names, ["created", "refused", "skipped", "skipped"]);
}

#[tokio::test]
async fn no_difference_no_request() {
    let script = Script::new();
    let same = Some(object("5", "x"));
    let effects = [
        effect(Action::Replace { object: object("4", "x"), observed: same.clone() }),
        merge(json!({"data": {"key": "x"}})),
        Effect::status(target(), object("5", "other"), same),
    ];
    let outcomes = interpreter(&script).execute(&effects).await;
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Unchanged, Outcome::Unchanged]);
    assert!(script.requests().is_empty());
}

#[tokio::test]
async fn a_write_without_effect_is_recognised_by_its_version() {
    let apply = Action::Apply { object: object("", "x"), manager: "olm".to_owned(), force: false };
    let request = format!("PATCH {ONE}&force=false");
    let script = Script::new().answer(&request, 200, object("5", "x"));
    let map: ConfigMap = serde_json::from_value(object("5", "x")).unwrap();
    let store = Store::with_objects([map]);
    let interpreter = interpreter(&script).with_store(config_maps(), store);
    assert_eq!(interpreter.execute(&[effect(apply)]).await, [Outcome::Unchanged]);
    assert_eq!(interpreter.writes(), 0);
}

#[tokio::test]
async fn removing_the_last_finalizer_is_a_write_although_the_version_stays() {
    let patch = json!({"metadata": {"finalizers": null}});
    let mut terminating = object("5", "x");
    terminating["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
    let script = Script::new().answer(&format!("PATCH {ONE}"), 200, terminating.clone());
    terminating["metadata"]["finalizers"] = json!(["f"]);
    let interpreter = interpreter(&script);
    interpreter.execute(&[Effect::merge(target(), patch, Some(terminating))]).await;
    assert_eq!(interpreter.writes(), 1);
}

#[tokio::test]
async fn written_objects_reach_the_stores() {
    let script = Script::new().answer(&format!("POST {ALL}"), 201, object("6", "x"));
    let store: Store<ConfigMap> = Store::new();
    let interpreter = interpreter(&script).with_store(config_maps(), store.clone());
    interpreter.execute(&[create()]).await;
    assert_eq!(store.get(Some("ns"), "a").unwrap().metadata.uid.as_deref(), Some("u"));
}

#[tokio::test]
async fn the_stop_point_is_notified_after_the_chosen_write() {
    #[derive(Default)]
    struct Noted(Mutex<Vec<(u64, String)>>);
    impl StopPoint for Noted {
        fn reached(&self, writes: u64, effect: &Effect) {
            self.0.lock().push((writes, action_name(&effect.action).to_owned()));
        }
    }
    let script = Script::new()
        .answer(&format!("POST {ALL}"), 201, object("6", "x"))
        .refuse("DELETE /api/v1/namespaces/ns/configmaps/a", 404, "NotFound", "gone")
        .answer(&format!("PATCH {ONE}"), 200, object("7", "y"))
        .answer(&format!("POST {ALL}"), 201, object("8", "x"));
    let noted = Arc::new(Noted::default());
    let mut options = InterpreterOptions::new("olm").stop_after(Some(2));
    options.stop_point = noted.clone();
    let interpreter = Interpreter::new(script.client(), options);
    let unchanged = merge(json!({"data": {"key": "x"}}));
    let changed = merge(json!({"data": {"key": "y"}}));
    let effects = [create(), Effect::delete(target()), unchanged, changed, create()];
    interpreter.execute(&effects).await;
    assert_eq!(*noted.0.lock(), [(2, "merge_patch".to_owned())]);
    assert_eq!(interpreter.writes(), 3);
}

#[tokio::test]
async fn a_lost_event_stops_nothing() {
    let note = EventNote {
        event_type: EventType::Warning,
        reason: "ResolutionFailed".to_owned(),
        message: "no".to_owned(),
        uid: None,
        field_path: None,
    };
    let script = Script::new();
    let effects = [Effect::event(target(), note), merge(json!({"data": {"key": "x"}}))];
    let outcomes = interpreter(&script).execute(&effects).await;
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Unchanged]);
    assert_eq!(script.requests()[0].line, "POST /api/v1/namespaces/ns/events?");
}
