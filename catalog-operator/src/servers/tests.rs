//! What is kept of the objects that serve catalogs, and whom their changes concern.

use std::time::Duration;

use olm_catalog::registry::client::{Address, Resolve};
use olm_kit::ObjectKey;
use olm_kit::queue::Queue;
use serde_json::{Value, json};

use super::*;

fn put<K>(store: &Store<K>, object: Value)
where
    K: Resource + DeserializeOwned,
{
    store.insert_written(serde_json::from_value(object).unwrap());
}

fn metadata(name: &str, more: Value) -> Value {
    let mut all = json!({"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn owned_by(name: &str) -> Value {
    json!({"ownerReferences": [{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "name": name, "uid": "u"}]})
}

async fn drain(queue: &Queue<ObjectKey>) -> Vec<String> {
    let mut names = Vec::new();
    while !queue.is_empty() {
        let next = tokio::time::timeout(Duration::from_secs(1), queue.next()).await;
        let key = next.unwrap();
        queue.done(&key);
        names.push(key.name);
    }
    names.sort();
    names
}

#[tokio::test]
async fn changes_concern_owners_and_those_whom_labels_name() {
    let (stores, catalogs, queue) = (ServerStores::default(), Store::new(), Queue::new());
    listen(&stores, &catalogs, &queue);
    let catalog = json!({"metadata": metadata("reader", json!({})), "spec": {"sourceType": "configmap", "configMap": "lists"}});
    put(&catalogs, catalog);
    put(&stores.services, json!({"metadata": metadata("s", owned_by("a"))}));
    assert_eq!(drain(&queue).await, ["a"]);
    let labels = json!({"labels": {"olm.catalogSource": "", "catalogsource.operators.coreos.com/update": "b"}});
    put(&stores.pods, json!({"metadata": metadata("p", labels)}));
    assert_eq!(drain(&queue).await, ["b"]);
    put(&stores.config_maps, json!({"metadata": metadata("lists", json!({}))}));
    put(&stores.config_maps, json!({"metadata": metadata("others", json!({}))}));
    assert_eq!(drain(&queue).await, ["reader"]);
}

#[tokio::test]
async fn a_namespace_concerns_its_catalogs_when_its_level_changes() {
    let (stores, catalogs, queue) = (ServerStores::default(), Store::new(), Queue::new());
    put(&catalogs, json!({"metadata": metadata("c", json!({}))}));
    listen(&stores, &catalogs, &queue);
    let namespace = |version: &str, labels: Value| json!({"metadata": {"name": "ns", "uid": "n", "resourceVersion": version, "labels": labels}});
    put(&stores.namespaces, namespace("1", json!({})));
    assert!(drain(&queue).await.is_empty());
    put(
        &stores.namespaces,
        namespace("2", json!({"pod-security.kubernetes.io/enforce": "restricted"})),
    );
    assert_eq!(drain(&queue).await, ["c"]);
    let names = Names { namespace: "ns", catalog: "c", service: "c", account: "c" };
    assert!(stores.present(&names).restricted);
}

#[tokio::test]
async fn services_are_found_without_dns() {
    let stores = ServerStores::default();
    let spec = json!({"clusterIP": "10.96.7.7"});
    put(&stores.services, json!({"metadata": metadata("c", json!({})), "spec": spec}));
    let resolver = ServiceResolver::new(stores.services);
    let found = resolver.resolve(&Address::parse("c.ns.svc:50051").unwrap()).await.unwrap();
    assert_eq!(found, ["10.96.7.7:50051".parse().unwrap()]);
    let own = resolver.resolve(&Address::parse("127.0.0.1:7").unwrap()).await.unwrap();
    assert_eq!(own, ["127.0.0.1:7".parse().unwrap()]);
}

#[test]
fn of_a_pod_images_and_status_are_kept() {
    let mut pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p", "annotations": {"a": "b"}, "labels": {"l": "v"}},
        "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}], "nodeName": "n"},
        "status": {"phase": "Running"},
    }))
    .unwrap();
    strip_pod(&mut pod);
    let kept = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "labels": {"l": "v"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    });
    assert_eq!(json!(pod), kept);
}
