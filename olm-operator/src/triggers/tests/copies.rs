//! Which copies of CSVs are woken by what.

use super::*;

/// Copies that are due, as `original>namespace`, sorted.
async fn woken_copies(triggers: &Triggers) -> Vec<String> {
    let mut keys = Vec::new();
    while !triggers.queues.copies.is_empty() {
        let key = triggers.queues.copies.next().await;
        keys.push(format!("{}>{}", key.origin, key.target.as_deref().unwrap_or("all")));
    }
    keys.sort();
    keys
}

fn mk_global_group() -> olm_types::api::OperatorGroup {
    mk(json!({
        "metadata": {"name": "og", "namespace": "ns"},
        "status": {"namespaces": [""], "lastUpdated": "2026-01-01T00:00:00Z"},
    }))
}

#[rstest]
#[case::original(|it: &Triggers| it.csv(&added(mk_csv("a", None, ""))), &["ns/a>all"])]
#[case::copy(|it: &Triggers| it.copy(&added(mk(json!({"metadata": {
    "name": "a", "namespace": "t", "labels": {"olm.copiedFrom": "ns"},
}})))), &["ns/a>t"])]
#[case::role(|it: &Triggers| it.role(&added(mk(json!({"metadata": {
    "name": "r", "namespace": "ns", "labels": labels_of("a"),
}})))), &["ns/a>all"])]
#[case::copied_role(|it: &Triggers| it.role(&added(mk(json!({"metadata": {
    "name": "r", "namespace": "t", "labels": {
        "olm.owner": "a", "olm.owner.namespace": "t", "olm.owner.kind": "ClusterServiceVersion",
        "olm.copiedFrom": "ns",
    },
}})))), &["ns/a>t"])]
#[case::new_namespace(|it: &Triggers| it.namespace(&added(mk(json!({"metadata": {"name": "t"}})))),
    &["ns/a>t", "ns/b>t", "ns/c>t"])]
#[case::label_of_a_namespace(|it: &Triggers| it.namespace(&changed(
    mk(json!({"metadata": {"name": "t"}})), mk(json!({"metadata": {"name": "t", "labels": {"l": "1"}}})),
)), &[])]
#[case::setting(|it: &Triggers| it.config(&changed(
    mk(json!({"metadata": {"name": "cluster"}})),
    mk(json!({"metadata": {"name": "cluster"}, "spec": {"features": {"disableCopiedCSVs": true}}})),
)), &["ns/a>all", "ns/b>all", "ns/c>all"])]
#[tokio::test]
async fn copies_are_woken(#[case] change: fn(&Triggers), #[case] expected: &[&str]) {
    let mut triggers = mk_triggers();
    triggers.stores.groups = Store::with_objects([mk_global_group()]);
    change(&triggers);
    assert_eq!(woken_copies(&triggers).await, expected);
}
