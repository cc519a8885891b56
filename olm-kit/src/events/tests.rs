//! Events against a scripted API server; time is an argument.

use jiff::SignedDuration;
use olm_effect::Resource;

use super::*;
use crate::scripted::Script;

const POST: &str = "POST /api/v1/namespaces/ns/events?";

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn target() -> Target {
    let resource =
        Resource::new("operators.coreos.com", "v1alpha1", "Subscription", "subscriptions");
    Target::namespaced(resource, "ns", "etcd")
}

fn note(message: &str) -> EventNote {
    EventNote {
        event_type: EventType::Warning,
        reason: "ResolutionFailed".to_owned(),
        message: message.to_owned(),
        uid: Some("u-1".to_owned()),
        field_path: Some("status.plan[0]".to_owned()),
    }
}

fn stored(name: &str, count: i32) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns"}, "involvedObject": {}, "count": count})
}

fn recorder(script: &Script) -> Recorder {
    Recorder::new(script.client(), "catalog-operator")
}

#[tokio::test]
async fn an_event_names_its_object_and_source() {
    let script = Script::new().answer(POST, 201, stored("etcd.1", 1));
    assert!(recorder(&script).record_at(&target(), &note("no"), now()).await.is_some());
    insta::assert_json_snapshot!(script.finish()[0].body, @r#"
    {
      "apiVersion": "v1",
      "count": 1,
      "firstTimestamp": "2023-11-14T22:13:20Z",
      "involvedObject": {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "fieldPath": "status.plan[0]",
        "kind": "Subscription",
        "name": "etcd",
        "namespace": "ns",
        "uid": "u-1"
      },
      "kind": "Event",
      "lastTimestamp": "2023-11-14T22:13:20Z",
      "message": "no",
      "metadata": {
        "name": "etcd.17979cfe362a0000",
        "namespace": "ns"
      },
      "reason": "ResolutionFailed",
      "reportingComponent": "catalog-operator",
      "source": {
        "component": "catalog-operator"
      },
      "type": "Warning"
    }
    "#);
}

#[tokio::test]
async fn a_repeated_event_raises_the_count() {
    let script = Script::new()
        .answer(POST, 201, stored("etcd.1", 1))
        .answer("PATCH /api/v1/namespaces/ns/events/etcd.1?", 200, stored("etcd.1", 2))
        .answer("PATCH /api/v1/namespaces/ns/events/etcd.1?", 200, stored("etcd.1", 3))
        .answer(POST, 201, stored("etcd.2", 1));
    let recorder = recorder(&script);
    for message in ["no", "no", "no", "other"] {
        recorder.record_at(&target(), &note(message), now()).await;
    }
    let requests = script.finish();
    assert_eq!(requests[2].body, json!({"count": 3, "lastTimestamp": "2023-11-14T22:13:20Z"}));
}

#[tokio::test]
async fn an_event_that_the_server_forgot_is_created_again() {
    let script = Script::new()
        .answer(POST, 201, stored("etcd.1", 1))
        .refuse("PATCH /api/v1/namespaces/ns/events/etcd.1?", 404, "NotFound", "gone")
        .answer(POST, 201, stored("etcd.2", 1))
        .answer("PATCH /api/v1/namespaces/ns/events/etcd.2?", 200, stored("etcd.2", 2));
    let recorder = recorder(&script);
    for _ in 0..3 {
        recorder.record_at(&target(), &note("no"), now()).await;
    }
    script.finish();
}

#[tokio::test]
async fn too_many_events_are_suppressed_per_object() {
    let mut script = Script::new();
    for number in 0..12 {
        script = script.answer(POST, 201, stored(&format!("e.{number}"), 1));
    }
    let recorder = recorder(&script);
    let mut written = 0;
    for number in 0..20 {
        let text = number.to_string();
        written += usize::from(recorder.record_at(&target(), &note(&text), now()).await.is_some());
    }
    assert_eq!(written, 10);
    let mut other = target();
    other.name = "other".to_owned();
    assert!(recorder.record_at(&other, &note("a"), now()).await.is_some());
    let later = now() + SignedDuration::from_secs(61);
    assert!(recorder.record_at(&target(), &note("b"), later).await.is_some());
    assert!(recorder.record_at(&target(), &note("c"), later).await.is_none());
}

#[test]
fn cluster_scoped_objects_and_long_messages() {
    let crds = Resource::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "crds");
    let topic = EventKey { target: Target::cluster(crds, "a.b"), note: note(&"ü".repeat(1000)) };
    let event = event(&topic, "olm", now());
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
    let message = event.message.unwrap();
    assert!(message.len() <= MESSAGE_LIMIT && message.ends_with('…'));
}
