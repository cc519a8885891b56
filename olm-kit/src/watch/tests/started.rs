//! A watch against a scripted API server.

use std::time::Duration;

use kube::Api;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::super::follow::CONFIRM_AFTER;
use super::*;
use crate::scripted::Script;
use crate::tasks::Tasks;

fn config_map(name: &str, version: &str, data: Value) -> Value {
    let metadata = json!({"namespace": "ns", "name": name, "resourceVersion": version,
        "managedFields": [{"manager": "m"}]});
    json!({"metadata": metadata, "data": data})
}

fn list(items: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "10"},
        "items": items})
}

#[tokio::test(start_paused = true)]
async fn a_malformed_object_does_not_stop_the_watch() {
    let (good, bad) =
        (config_map("good", "3", json!({"a": "b"})), config_map("bad", "4", json!(7)));
    let script = Script::new()
        .answer("GET /api/v1/namespaces/ns/configmaps?&limit=100", 200, list(json!([good, bad])))
        .stream(
            "GET /api/v1/namespaces/ns/configmaps?&watch=true&timeoutSeconds=290&allowWatchBookmarks=true&resourceVersion=10",
            &[json!({"type": "ADDED", "object": config_map("late", "11", json!({}))})],
        );
    let tasks = Tasks::new(CancellationToken::new());
    let seen = Arc::new(tokio::sync::Semaphore::new(0));
    let reported = seen.clone();
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "ns");
    let store = Watch::builder(api, Config::default())
        .strip(|map| map.data = None)
        .on_change(move |_| reported.add_permits(1))
        .start(&tasks);
    assert!(!tasks.readiness().is_ready());
    store.synced().await;
    tasks.readiness().ready().await;
    let _ = seen.acquire_many(2).await.unwrap();
    let names: Vec<_> = store.list().iter().map(|map| map.metadata.name.clone()).collect();
    assert_eq!(names, [Some("good".to_owned()), Some("late".to_owned())]);
    assert_eq!(store.list()[0].data, None, "stripped");
    assert!(store.malformed()[0].1.error.contains("invalid type: integer `7`"));
    tasks.token().cancel();
    tasks.wait().await.unwrap();
}

const LIST: &str = "GET /api/v1/namespaces/ns/configmaps?&limit=100";
const WATCH: &str = "GET /api/v1/namespaces/ns/configmaps?&watch=true&timeoutSeconds=290&allowWatchBookmarks=true&resourceVersion=10";

/// Its text has less than half a megabyte.
#[tokio::test(start_paused = true)]
async fn an_object_that_takes_too_much_memory_is_malformed_and_no_other() {
    let small = config_map("small", "3", json!({"a": "b"}));
    let large = config_map("large", "4", json!(vec![json!({"": 0}); 70_000]));
    let script = Script::new().answer(LIST, 200, list(json!([large, small]))).stream(WATCH, &[]);
    let tasks = Tasks::new(CancellationToken::new());
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "ns");
    let store = Watch::builder(api, Config::default()).start(&tasks);
    store.synced().await;
    assert_eq!((store.len(), store.malformed().len()), (1, 1));
    assert!(store.get(Some("ns"), "small").is_some());
    assert!(store.malformed()[0].1.error.contains("take more than 50331648 bytes of memory"));
}

/// The list goes on after the page that was asked for again.
#[tokio::test(start_paused = true)]
async fn large_objects_are_listed_in_smaller_pages() {
    let large = config_map("large", "3", json!({"a": "x".repeat(4 << 20)}));
    let one = |name: &str| list(json!([config_map(name, "4", json!({}))]));
    let mut first = one("first");
    first["metadata"]["continue"] = json!("next");
    let script = Script::new()
        .answer(LIST, 200, list(json!([large])))
        .answer(&LIST.replace("100", "20"), 200, first)
        .answer(&format!("{LIST}&continue=next"), 200, one("second"))
        .stream(WATCH, &[]);
    let tasks = Tasks::new(CancellationToken::new());
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "ns");
    let store = Watch::builder(api, Config::default()).start(&tasks);
    store.synced().await;
    let names: Vec<_> = store.list().iter().map(|map| map.metadata.name.clone()).collect();
    assert_eq!(names, [Some("first".to_owned()), Some("second".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn an_absorbed_object_that_never_comes_back_is_read() {
    let script = Script::new()
        .answer(LIST, 200, list(json!([])))
        .stream(WATCH, &[])
        .answer(
            "GET /api/v1/namespaces/ns/configmaps/kept",
            200,
            config_map("kept", "9", json!({})),
        )
        .refuse("GET /api/v1/namespaces/ns/configmaps/lost", 404, "NotFound", "not found");
    let tasks = Tasks::new(CancellationToken::new());
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "ns");
    let watch = Watch::builder(api, Config::default());
    let store = watch.store();
    ["kept", "lost"].into_iter().for_each(|name| store.insert_written(object(name, "u", 9)));
    watch.start(&tasks);
    store.synced().await;
    assert_eq!(store.len(), 2);
    tokio::time::sleep(2 * CONFIRM_AFTER + Duration::from_secs(1)).await;
    assert_eq!(script.finish().len(), 4);
    assert!(store.get(Some("ns"), "kept").is_some() && store.get(Some("ns"), "lost").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watch_with_a_selector_takes_in_only_what_it_knows() {
    let selected = "GET /api/v1/namespaces/ns/configmaps?&labelSelector=a&limit=100";
    let known = list(json!([config_map("known", "9", json!({}))]));
    let script = Script::new().answer(selected, 200, known);
    let tasks = Tasks::new(CancellationToken::new());
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "ns");
    let store = Watch::builder(api, Config::default().labels("a")).start(&tasks);
    store.synced().await;
    ["known", "other"].into_iter().for_each(|name| store.insert_written(object(name, "u", 11)));
    let names: Vec<_> = store.list().iter().map(|map| map.metadata.clone()).collect();
    assert_eq!(names, [object("known", "u", 11).metadata]);
}
