//! Look-ups against a scripted API server.

use serde_json::{Value, json};
use tokio::time::advance;

use super::*;
use crate::scripted::Script;

fn served(kinds: &[(&str, &str)]) -> Value {
    let resource = |(kind, name): &(&str, &str)| json!({"kind": kind, "name": name, "singularName": "", "namespaced": true, "verbs": []});
    let resources: Vec<_> = kinds.iter().map(resource).collect();
    json!({"groupVersion": "example.com/v1", "resources": resources})
}

#[tokio::test(start_paused = true)]
async fn kinds_are_looked_up_once_and_again_on_a_late_miss() {
    let script = Script::new()
        .answer(
            "GET /apis/example.com/v1",
            200,
            served(&[("Etcd", "etcds"), ("Etcd", "etcds/status")]),
        )
        .answer(
            "GET /apis/example.com/v1",
            200,
            served(&[("Etcd", "etcds"), ("Backup", "backups")]),
        );
    let kinds = ApiKinds::new(script.client());
    let plural = async |kind| {
        let found = kinds.resolve("example.com", "v1", kind).await.unwrap();
        found.map(|kind| kind.resource.plural)
    };
    assert_eq!(plural("Etcd").await.as_deref(), Some("etcds"));
    assert_eq!(plural("Backup").await, None);
    advance(REFRESH_AFTER).await;
    assert_eq!(plural("Etcd").await.as_deref(), Some("etcds"));
    assert_eq!(script.requests().len(), 1);
    assert_eq!(plural("Backup").await.as_deref(), Some("backups"));
    script.finish();
}

#[tokio::test(start_paused = true)]
async fn an_absent_group_has_no_kinds_and_a_failure_says_nothing() {
    let script = Script::new()
        .text("GET /apis/absent.example.com/v1", 404, "404 page not found")
        .refuse("GET /api/v1", 500, "InternalError", "down");
    let kinds = ApiKinds::new(script.client());
    assert_eq!(kinds.resolve("absent.example.com", "v1", "Etcd").await.unwrap(), None);
    let error = kinds.resolve("", "v1", "Pod").await.unwrap_err();
    assert_eq!(error.to_string(), "cannot list the kinds of v1");
}

fn version(text: &str) -> Value {
    json!({"major": "1", "minor": "33", "gitVersion": text, "gitCommit": "",
        "gitTreeState": "", "buildDate": "", "goVersion": "", "compiler": "", "platform": ""})
}

#[tokio::test]
async fn the_server_has_a_version() {
    let script = Script::new().answer("GET /version", 200, version("v1.33.1"));
    assert_eq!(server_version(&script.client()).await.unwrap(), "v1.33.1");
}

#[tokio::test(start_paused = true)]
async fn a_version_is_believed_for_a_while_and_while_there_is_no_better_one() {
    let script = Script::new()
        .answer("GET /version", 200, version("v1.33.1"))
        .refuse("GET /version", 500, "InternalError", "down")
        .answer("GET /version", 200, version("v1.34.0"));
    let server = ServerVersion::new(script.client());
    assert_eq!(server.current().await.as_deref(), Some("v1.33.1"));
    assert_eq!(server.current().await.as_deref(), Some("v1.33.1"));
    advance(BELIEVED_FOR).await;
    assert_eq!(server.current().await.as_deref(), Some("v1.33.1"), "nothing better is known");
    assert_eq!(server.current().await.as_deref(), Some("v1.34.0"));
    script.finish();
}

#[tokio::test]
async fn a_hostile_group_is_not_asked_for() {
    let script = Script::new();
    let kinds = ApiKinds::new(script.client());
    assert_eq!(kinds.resolve("../api", "v1", "Secret").await.unwrap(), None);
    assert_eq!(kinds.resolve("a", "v1?x", "Secret").await.unwrap(), None);
    assert!(script.requests().is_empty());
}
