//! Which change asks for which work.

use std::time::Duration;

use olm_kit::watch::Store;
use serde_json::{Value, json};

use super::*;

struct Bench {
    stores: Stores,
    queues: Queues,
    triggers: Triggers,
}

fn bench() -> Bench {
    let stores = Stores {
        catalogs: Store::new(),
        subscriptions: Store::new(),
        plans: Store::new(),
        groups: Store::new(),
        csvs: Store::new(),
        unpack_jobs: Store::new(),
        unpack_pods: Store::new(),
        servers: servers::ServerStores::default(),
    };
    let queues = Queues::new();
    let triggers = Triggers::new(&stores, &queues, "olm");
    triggers.listen();
    Bench { stores, queues, triggers }
}

fn put<K>(store: &Store<K>, version: u64, namespace: &str, name: &str, mut object: Value)
where
    K: kube::Resource + serde::de::DeserializeOwned,
{
    object["metadata"]["name"] = json!(name);
    object["metadata"]["namespace"] = json!(namespace);
    object["metadata"]["uid"] = json!(format!("{namespace}/{name}"));
    object["metadata"]["resourceVersion"] = json!(version.to_string());
    store.insert_written(serde_json::from_value(object).unwrap());
}

/// Takes all keys out of a queue.
async fn drain<K: olm_kit::key::QueueKey>(queue: &olm_kit::queue::Queue<K>) -> Vec<K> {
    let mut keys = Vec::new();
    while !queue.is_empty() {
        let Ok(key) = tokio::time::timeout(Duration::from_secs(1), queue.next()).await else {
            break;
        };
        queue.done(&key);
        keys.push(key);
    }
    keys.sort();
    keys
}

fn keys(keys: &[(&str, &str)]) -> Vec<ObjectKey> {
    keys.iter().map(|(namespace, name)| ObjectKey::namespaced(namespace, name)).collect()
}

#[tokio::test]
async fn a_catalog_concerns_the_subscriptions_that_see_it() {
    let bench = bench();
    put(&bench.stores.subscriptions, 1, "a", "s", json!({}));
    put(&bench.stores.subscriptions, 2, "b", "s", json!({}));
    drain(&bench.queues.subscriptions).await;
    put(&bench.stores.catalogs, 3, "b", "own", json!({}));
    assert_eq!(drain(&bench.queues.subscriptions).await, keys(&[("b", "s")]));
    put(&bench.stores.catalogs, 4, "olm", "global", json!({}));
    assert_eq!(drain(&bench.queues.subscriptions).await, keys(&[("a", "s"), ("b", "s")]));
    assert_eq!(drain(&bench.queues.catalogs).await, keys(&[("b", "own"), ("olm", "global")]));
}

/// After a start every catalog is connected anew: no namespace but its own is looked at.
#[tokio::test]
async fn a_new_connection_concerns_no_namespace() {
    let bench = bench();
    put(&bench.stores.subscriptions, 1, "a", "s", json!({}));
    let connected = |state: &str, at: &str| {
        let state = json!({"lastObservedState": state, "lastConnect": at, "address": "a"});
        json!({"status": {"connectionState": state}})
    };
    put(&bench.stores.catalogs, 2, "olm", "c", connected("READY", "2026-01-01T00:00:00Z"));
    drain(&bench.queues.subscriptions).await;
    drain(&bench.queues.packages).await;
    put(&bench.stores.catalogs, 3, "olm", "c", connected("READY", "2026-01-02T00:00:00Z"));
    assert!(drain(&bench.queues.subscriptions).await.is_empty());
    assert!(drain(&bench.queues.packages).await.is_empty());
    assert!(drain(&bench.queues.namespaces).await.is_empty());
    assert_eq!(drain(&bench.queues.catalogs).await, keys(&[("olm", "c")]));
    put(&bench.stores.catalogs, 4, "olm", "c", connected("CONNECTING", "2026-01-02T00:00:00Z"));
    assert_eq!(drain(&bench.queues.subscriptions).await, keys(&[("a", "s")]));
}

/// Whoever waits, is held or is about to be executed is looked at when what it was made for goes.
#[tokio::test]
async fn what_goes_concerns_the_plans_that_were_made_for_it() {
    let bench = bench();
    let open =
        |conditions: Value| json!({"status": {"phase": "Installing", "conditions": conditions}});
    let held = json!([{"type": "Installed", "status": "False", "reason": "InstallCheckFailed"}]);
    put(&bench.stores.plans, 1, "a", "open", open(json!([])));
    put(&bench.stores.plans, 2, "a", "held", open(held));
    put(&bench.stores.plans, 3, "a", "done", json!({"status": {"phase": "Complete"}}));
    put(&bench.stores.subscriptions, 4, "a", "s", json!({}));
    put(&bench.stores.csvs, 5, "a", "c", json!({}));
    drain(&bench.queues.plans).await;
    let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    put(&bench.stores.subscriptions, 6, "a", "s", json!({"metadata": {"labels": {"a": "b"}}}));
    assert!(drain(&bench.queues.plans).await.is_empty());
    put(&bench.stores.subscriptions, 7, "a", "s", going.clone());
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "held"), ("a", "open")]));
    put(&bench.stores.csvs, 8, "a", "c", going);
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "held")]));
}

#[tokio::test]
async fn new_content_has_namespaces_resolved() {
    let bench = bench();
    put(&bench.stores.subscriptions, 1, "a", "s", json!({}));
    bench.triggers.connected_catalog(&CatalogKey::new("olm", "global"), CatalogChange::State);
    assert!(drain(&bench.queues.namespaces).await.is_empty());
    bench.triggers.connected_catalog(&CatalogKey::new("olm", "global"), CatalogChange::Loaded);
    assert_eq!(drain(&bench.queues.namespaces).await, ["a"]);
    bench.triggers.connected_catalog(&CatalogKey::new("b", "own"), CatalogChange::Lost);
    assert_eq!(drain(&bench.queues.namespaces).await, ["b"]);
}

#[tokio::test]
async fn a_plan_concerns_its_owners() {
    let bench = bench();
    let owner =
        |kind: &str, name: &str| json!({"apiVersion": "v", "kind": kind, "name": name, "uid": "u"});
    let owners = json!({"metadata": {"ownerReferences": [owner("Subscription", "s"), owner("ConfigMap", "c")]}});
    put(&bench.stores.plans, 1, "a", "install-x", owners);
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "install-x")]));
    assert_eq!(drain(&bench.queues.subscriptions).await, keys(&[("a", "s")]));
}

#[tokio::test]
async fn a_plan_concerns_the_subscriptions_that_it_generated() {
    let bench = bench();
    let naming = |plan: &str| json!({"status": {"installPlanRef": {"name": plan}}});
    put(&bench.stores.subscriptions, 1, "a", "generated", naming("install-x"));
    put(&bench.stores.subscriptions, 2, "a", "other", naming("install-y"));
    put(&bench.stores.subscriptions, 3, "b", "elsewhere", naming("install-x"));
    drain(&bench.queues.subscriptions).await;
    put(&bench.stores.plans, 4, "a", "install-x", json!({}));
    assert_eq!(drain(&bench.queues.subscriptions).await, keys(&[("a", "generated")]));
}

#[tokio::test]
async fn a_plan_that_is_done_gives_way_to_the_next() {
    let bench = bench();
    let in_phase = |phase: &str| json!({"status": {"phase": phase}});
    put(&bench.stores.plans, 1, "a", "first", in_phase("Installing"));
    put(&bench.stores.plans, 2, "a", "second", in_phase("Installing"));
    put(&bench.stores.plans, 3, "b", "elsewhere", in_phase("Installing"));
    drain(&bench.queues.plans).await;
    put(&bench.stores.plans, 4, "a", "first", in_phase("Complete"));
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "first"), ("a", "second")]));
    put(&bench.stores.plans, 5, "a", "first", in_phase("Complete"));
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "first")]));
}

#[tokio::test]
async fn an_operator_group_concerns_open_plans_and_its_namespace() {
    let bench = bench();
    put(&bench.stores.plans, 1, "a", "done", json!({"status": {"phase": "Complete"}}));
    put(&bench.stores.plans, 2, "a", "open", json!({"status": {"phase": "Installing"}}));
    drain(&bench.queues.plans).await;
    put(&bench.stores.groups, 3, "a", "og", json!({}));
    assert_eq!(drain(&bench.queues.plans).await, keys(&[("a", "open")]));
    assert_eq!(drain(&bench.queues.namespaces).await, ["a"]);
}

#[tokio::test]
async fn a_csv_has_its_namespace_resolved_when_that_matters() {
    let bench = bench();
    let steps = [
        ("", true),
        ("Pending", false),
        ("InstallReady", false),
        ("Succeeded", true),
        ("Succeeded", false),
        ("Failed", true),
    ];
    for (version, (phase, matters)) in (1..).zip(steps) {
        put(&bench.stores.csvs, version, "a", "x.v1", json!({"status": {"phase": phase}}));
        assert_eq!(
            !drain(&bench.queues.namespaces).await.is_empty(),
            matters,
            "{phase} at {version}"
        );
    }
}

#[tokio::test]
async fn what_unpacks_a_bundle_concerns_who_waits_for_one() {
    let bench = bench();
    let waiting = json!({"type": "BundleUnpacking", "status": "True"});
    put(&bench.stores.subscriptions, 1, "a", "s", json!({"status": {"conditions": [waiting]}}));
    put(&bench.stores.subscriptions, 2, "b", "s", json!({}));
    drain(&bench.queues.namespaces).await;
    put(&bench.stores.unpack_jobs, 3, "olm", "job", json!({}));
    assert_eq!(drain(&bench.queues.namespaces).await, ["a"]);
    put(&bench.stores.unpack_pods, 4, "olm", "pod", json!({}));
    assert_eq!(drain(&bench.queues.namespaces).await, ["a"]);
}
