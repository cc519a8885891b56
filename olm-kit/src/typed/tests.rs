//! Objects as types, beside what any reader makes of them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::{DynamicObject, PartialObjectMeta};
use serde_json::json;

use super::*;

fn is_as_usual<K: DeserializeOwned + Debug>(object: &Value) {
    let usual = K::deserialize(object).map_err(|error| error.to_string());
    assert_eq!(format!("{:?}", typed::<K>(object)), format!("{usual:?}"));
}

fn role(rules: &Value) -> Value {
    json!({"metadata": {"name": "a", "generation": 7}, "rules": rules})
}

#[rstest::rstest]
#[case(json!({"metadata": {"name": "a", "labels": {"a": "b", "c": "d"}}, "data": {"e": "f"}}))]
#[case(json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}}))]
#[case(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": null, "data": null}))]
#[case(json!({"metadata": {"name": "a"}, "data": 7}))]
#[case(json!({"metadata": {"name": "a"}, "data": {"a": -7}}))]
#[case(json!({"metadata": {"name": ["a"]}}))]
#[case(json!({"metadata": "a"}))]
#[case(json!({"metadata": {"ownerReferences": {"a": 1.5}}}))]
#[case(json!({"metadata": {"generation": "x"}, "immutable": true}))]
#[case(json!(null))]
fn objects_are_what_any_reader_makes_of_them(#[case] object: Value) {
    is_as_usual::<ConfigMap>(&object);
    is_as_usual::<Secret>(&object);
    is_as_usual::<DynamicObject>(&object);
    is_as_usual::<PartialObjectMeta<ConfigMap>>(&object);
}

#[test]
fn types_with_boxes_enums_and_values_of_any_shape_are_as_usual() {
    let probe = json!({"httpGet": {"port": "http"}, "exec": {"command": ["a"]}});
    let container = json!({"name": "a", "image": "b", "env": [{"name": "c", "value": "d"}],
        "resources": {"limits": {"cpu": "1", "memory": "7"}}, "livenessProbe": probe});
    let template = json!({"metadata": {}, "spec": {"containers": [container]}});
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {}}, "template": template});
    is_as_usual::<Deployment>(&json!({"metadata": {"name": "a"}, "spec": spec}));
    let schema = json!({"type": "object", "not": {"type": "string"}, "default": {"a": [1]},
        "properties": {"a": {"items": {"type": "string"}, "additionalProperties": false}}});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}});
    let spec = json!({"group": "g", "scope": "Cluster", "versions": [version],
        "names": {"kind": "A", "plural": "as"}});
    is_as_usual::<CustomResourceDefinition>(&json!({"metadata": {"name": "a"}, "spec": spec}));
    is_as_usual::<Role>(&role(&json!([{"verbs": ["get"], "apiGroups": [""]}])));
}

/// Half a megabyte of text, of which types would be fifty.
#[rstest::rstest]
#[case::elements(json!(vec![json!({}); 150_000]))]
#[case::texts(json!([{"verbs": vec![""; 150_000]}]))]
fn what_says_little_takes_little(#[case] rules: Value) {
    let error = typed::<Role>(&role(&rules)).unwrap_err();
    assert!(error.contains("bytes of memory: leave out those that are empty"), "{error}");
}

#[test]
fn maps_and_boxes_are_counted() {
    let maps = json!(vec![json!({"": 0}); 50_000]);
    assert!(typed::<Vec<BTreeMap<String, u8>>>(&maps).is_err());
    let rules = json!(vec![json!({}); 50_000]);
    assert!(typed::<Vec<Option<Box<PolicyRule>>>>(&rules).is_err());
    assert_eq!(typed::<Vec<u8>>(&json!(vec![0; 50_000])), Ok(vec![0; 50_000]));
}

/// The largest objects of good will: a megabyte of rules, texts, labels or owners.
#[rstest::rstest]
#[case::rules(role(&json!(vec![
    json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}); 20_000
])))]
#[case::labels(json!({"metadata": {"labels": (0..20_000)
    .map(|number| (format!("example.com/{number}"), json!(number.to_string())))
    .collect::<serde_json::Map<_, _>>()}}))]
#[case::owners(json!({"metadata": {"ownerReferences": vec![
    json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}); 15_000
]}}))]
#[case::a_text(json!({"metadata": {"annotations": {"a": "x".repeat(1 << 20)}}}))]
fn large_objects_of_good_will_are_read(#[case] object: Value) {
    is_as_usual::<Role>(&object);
    assert!(typed::<Role>(&object).is_ok());
}
