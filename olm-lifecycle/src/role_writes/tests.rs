//! Which difference leads to which write.

use super::*;
use rstest::rstest;
use serde::de::DeserializeOwned;

fn mk<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn wanted() -> Value {
    json!({
        "metadata": {
            "name": "r", "labels": {"a": "1"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Crd", "name": "c", "uid": "u"}],
        },
        "rules": [{"verbs": ["get"]}],
    })
}

fn patch_of(effect: Option<Effect>) -> Option<Value> {
    match effect?.action {
        Action::MergePatch { patch, .. } => Some(patch),
        other => panic!("not a patch: {other:?}"),
    }
}

#[test]
fn what_is_missing_is_created() {
    let effect = cluster_role(&mk(wanted()), None).unwrap();
    assert!(matches!(effect.action, Action::Create(_)));
    assert_eq!(effect.target.to_string(), "ClusterRole r");
}

#[rstest]
#[case::in_step(json!({}), None)]
#[case::foreign_label(json!({"metadata": {"labels": {"b": "2"}}}), None)]
#[case::label(json!({"metadata": {"labels": {"a": "x"}}}),
    Some(json!({"metadata": {"labels": {"a": "1"}, "resourceVersion": null}})))]
#[case::rules(json!({"rules": [{"verbs": ["*"]}]}),
    Some(json!({"metadata": {"resourceVersion": null}, "rules": [{"verbs": ["get"]}]})))]
#[case::misspelled_owner(
    json!({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "crd", "name": "c", "uid": "u"},
        {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o"},
    ]}}),
    Some(json!({"metadata": {"resourceVersion": null, "ownerReferences": [
        {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o"},
        {"apiVersion": "v1", "kind": "Crd", "name": "c", "uid": "u"},
    ]}})))]
fn differences(#[case] change: Value, #[case] expected: Option<Value>) {
    let mut present = wanted();
    for (path, value) in [
        ("/metadata/labels", change.pointer("/metadata/labels/a")),
        ("/metadata/ownerReferences", change.pointer("/metadata/ownerReferences")),
        ("/rules", change.pointer("/rules")),
    ] {
        let Some(value) = value else { continue };
        let place = present.pointer_mut(path).unwrap();
        *place = if path.ends_with("labels") { json!({"a": value}) } else { value.clone() };
    }
    if let Some(foreign) = change.pointer("/metadata/labels/b") {
        present["metadata"]["labels"]["b"] = foreign.clone();
    }
    assert_eq!(patch_of(cluster_role(&mk(wanted()), Some(&mk(present)))), expected);
}

#[test]
fn a_role_that_collects_nothing_any_more_holds_no_rules() {
    let present = json!({
        "metadata": {"name": "r", "resourceVersion": "3"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"k": "true"}}]},
        "rules": [{"verbs": ["*"]}],
    });
    let effect = cluster_role(&mk(json!({"metadata": {"name": "r"}})), Some(&mk(present)));
    let expected =
        json!({"metadata": {"resourceVersion": "3"}, "aggregationRule": null, "rules": null});
    assert_eq!(patch_of(effect), Some(expected));
}

#[test]
fn rules_that_kubernetes_filled_in_are_left_alone() {
    let rule = json!({"clusterRoleSelectors": [{"matchLabels": {"k": "true"}}]});
    let wanted = json!({"metadata": {"name": "r"}, "aggregationRule": rule});
    let mut present = wanted.clone();
    present["rules"] = json!([{"verbs": ["get"]}]);
    assert_eq!(cluster_role(&mk(wanted), Some(&mk(present))), None);
}

#[rstest]
#[case::subjects("ClusterRole", "r", true)]
#[case::bound_to_another_role("ClusterRole", "other", false)]
#[case::bound_to_another_kind("Role", "r", false)]
fn bindings(#[case] kind: &str, #[case] role: &str, #[case] written: bool) {
    let binding = |kind: &str, role: &str, subject: &str| {
        mk::<ClusterRoleBinding>(json!({
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": "", "kind": kind, "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": subject, "namespace": "ns"}],
        }))
    };
    let present = binding(kind, role, "old");
    let effect = cluster_role_binding(&binding("ClusterRole", "r", "new"), Some(&present));
    assert_eq!(effect.is_some(), written);
}
