//! Tables of objects before and after.

use serde_json::{Value, json};

use super::*;

const UID: &str = "0b1e4f3a-0000-4000-8000-000000000001";

fn normal(object: Value) -> Value {
    normalise(&mut Normaliser::default(), vec![object]).into_values().next().unwrap()
}

#[rstest::rstest]
#[case::server_fields(
    json!({"kind": "X", "metadata": {"name": "a", "uid": UID, "generation": 2, "labels": {}}}),
    json!({"kind": "X", "metadata": {"name": "a"}}),
)]
#[case::times(
    json!({"at": "2026-01-02T03:04:05Z", "day": "2021-06-23 00:00:00"}),
    json!({"at": "<time>", "day": "2021-06-23 00:00:00"}),
)]
#[case::csv(
    json!({"kind": "ClusterServiceVersion", "metadata": {"annotations": {"alm-examples": "[]"}},
           "spec": {"version": "1.0.0", "install": {}}}),
    json!({"kind": "ClusterServiceVersion",
           "metadata": {"annotations": {"alm-examples": "<as in the bundle>"}},
           "spec": {"<as in the bundle, except>": {"version": "1.0.0"}}}),
)]
#[case::crd(
    json!({"kind": "CustomResourceDefinition",
           "spec": {"group": "g", "scope": "Cluster",
                    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {}}]},
           "status": {"conditions": [], "storedVersions": ["v1"]}}),
    json!({"kind": "CustomResourceDefinition",
           "spec": {"group": "g", "versions": [{"name": "v1", "served": true, "storage": true}]},
           "status": {"storedVersions": ["v1"]}}),
)]
#[case::manifests(
    json!({"kind": "InstallPlan", "metadata": {"name": "install-abcde"}, "status": {"plan": [
        {"resource": {"kind": "CustomResourceDefinition", "manifest": "{}"}},
        {"resource": {"kind": "Role", "manifest": "{}"}},
    ]}}),
    json!({"kind": "InstallPlan", "metadata": {"name": "install-1"}, "status": {"plan": [
        {"resource": {"kind": "CustomResourceDefinition",
                      "manifest": "<manifest of CustomResourceDefinition>"}},
        {"resource": {"kind": "Role", "manifest": "{}"}},
    ]}}),
)]
#[case::secrets_and_addresses(
    json!({"kind": "Service", "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["None"]}}),
    json!({"kind": "Service", "spec": {"clusterIP": "<cluster ip>", "clusterIPs": ["None"]}}),
)]
#[case::generated_names(
    json!({"kind": "X", "metadata": {"generateName": "a-", "name": "a-x7p2q"}}),
    json!({"kind": "X", "metadata": {"generateName": "a-", "name": "a-<generated>"}}),
)]
#[case::resolution_texts(
    json!({"conditions": [{"type": "ResolutionFailed", "message": "not satisfiable: a, b"},
                          {"type": "Other", "message": "all: well"}]}),
    json!({"conditions": [{"type": "ResolutionFailed", "message": "not satisfiable"},
                          {"type": "Other", "message": "all: well"}]}),
)]
fn one_object(#[case] object: Value, #[case] expected: Value) {
    assert_eq!(normal(object), expected);
}
