//! Reading an object and writing it again changes nothing.
//!
//! Objects in which every field is set are made from the generated schemas, so that no field can
//! be forgotten here. Explicit nulls and empty lists or maps are left out when written.

use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OLMConfig, Operator, OperatorCondition,
    OperatorGroup, PackageManifest, Subscription,
};
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::schema;

/// Fields whose texts are enumerated by the type though not by the schema.
const TEXTS: [(&str, &str); 7] = [
    (".spec.approval", "Manual"),
    (".spec.installPlanApproval", "Manual"),
    (".status.conditions[].phase", "Pending"),
    (".status.phase", "Failed"),
    (".status.plan[].status", "WaitingForApi"),
    (".status.state", "UpgradePending"),
    (".spec.upgradeStrategy", "TechPreviewUnsafeFailForward"),
];

/// A value that sets every field of a schema.
fn sample(path: &str, schema: &Value) -> Value {
    if let Some((_, text)) = TEXTS.iter().find(|(field, _)| *field == path) {
        return json!(text);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => object(path, schema),
        Some("array") => json!([sample(&format!("{path}[]"), &schema["items"])]),
        Some("boolean") => json!(true),
        Some("integer") => json!(7),
        Some("number") => json!(0.5),
        Some("string") => text(schema),
        _ => json!("8"),
    }
}

fn object(path: &str, schema: &Value) -> Value {
    if let Some(fields) = schema::properties(schema) {
        let set = |(name, field): (&String, &Value)| {
            (name.clone(), sample(&format!("{path}.{name}"), field))
        };
        return Value::Object(fields.iter().map(set).collect());
    }
    match schema.get("additionalProperties") {
        Some(value) => json!({ "key": sample(&format!("{path}{{}}"), value) }),
        None => json!({}),
    }
}

fn text(schema: &Value) -> Value {
    let first = schema.get("enum").and_then(|texts| texts.get(0));
    let of_format = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => json!("2024-02-29T23:59:59Z"),
        Some("byte") => json!("e30="),
        _ => json!("text"),
    };
    first.cloned().unwrap_or(of_format)
}

/// An object of a kind with every field set.
fn full(kind: &str, version: &str, api_version: &str) -> Value {
    let mut object = sample("", &schema::schema(kind, version));
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    object["metadata"] = json!({
        "name": "full", "namespace": "here", "uid": "3c5f", "resourceVersion": "12", "generation": 3,
        "creationTimestamp": "2024-02-29T23:59:59Z", "labels": {"a": "b"}, "annotations": {"c": "d"},
        "finalizers": ["e/f"],
    });
    object
}

fn rewritten<K: Serialize + DeserializeOwned>(object: &Value) -> Value {
    let read: K = serde_json::from_value(object.clone()).unwrap();
    serde_json::to_value(read).unwrap()
}

#[rstest]
#[case::catalog_source("CatalogSource", "v1alpha1", rewritten::<CatalogSource>)]
#[case::csv("ClusterServiceVersion", "v1alpha1", rewritten::<ClusterServiceVersion>)]
#[case::install_plan("InstallPlan", "v1alpha1", rewritten::<InstallPlan>)]
#[case::olm_config("OLMConfig", "v1", rewritten::<OLMConfig>)]
#[case::operator("Operator", "v1", rewritten::<Operator>)]
#[case::operator_condition("OperatorCondition", "v2", rewritten::<OperatorCondition>)]
#[case::operator_group("OperatorGroup", "v1", rewritten::<OperatorGroup>)]
#[case::subscription("Subscription", "v1alpha1", rewritten::<Subscription>)]
fn every_field_survives(
    #[case] kind: &str,
    #[case] version: &str,
    #[case] rewrite: fn(&Value) -> Value,
) {
    let object = full(kind, version, &format!("operators.coreos.com/{version}"));
    pretty_assert(&object, &rewrite(&object));
}

/// Compares path by path, so that a failure names the field.
fn pretty_assert(expected: &Value, found: &Value) {
    let mut lines = Vec::new();
    differences("", expected, found, &mut lines);
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

fn differences(path: &str, expected: &Value, found: &Value, lines: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let (x, y) =
                    (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                differences(&format!("{path}.{key}"), x, y, lines);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (x, y) in a.iter().zip(b) {
                differences(&format!("{path}[]"), x, y, lines);
            }
        }
        _ if expected == found => {}
        _ => lines.push(format!("{path}: read {expected}, wrote {found}")),
    }
}

#[test]
fn every_field_of_a_package_manifest_survives() {
    let described = json!({"message": "use the other one"});
    let link = json!({"name": "text", "url": "https://example.com"});
    let csv = full("ClusterServiceVersion", "v1alpha1", "operators.coreos.com/v1alpha1");
    let object = json!({
        "apiVersion": "packages.operators.coreos.com/v1",
        "kind": "PackageManifest",
        "metadata": {"name": "full", "namespace": "here"},
        "spec": {},
        "status": {
            "catalogSource": "catalog", "catalogSourceDisplayName": "Catalog", "catalogSourcePublisher": "We",
            "catalogSourceNamespace": "olm", "provider": link, "packageName": "full", "deprecation": described,
            "defaultChannel": "stable",
            "channels": [{
                "name": "stable", "currentCSV": "full.v1.0.0", "deprecation": described,
                "entries": [{"name": "full.v1.0.0", "version": "1.0.0", "deprecation": described}],
                "currentCSVDesc": {
                    "displayName": "Full", "icon": csv["spec"]["icon"], "version": "1.0.0", "provider": link,
                    "annotations": {"a": "b"}, "keywords": ["k"], "links": [link], "maturity": "alpha",
                    "maintainers": [{"name": "we", "email": "we@example.com"}], "description": "long",
                    "installModes": csv["spec"]["installModes"], "minKubeVersion": "1.20.0",
                    "customresourcedefinitions": csv["spec"]["customresourcedefinitions"],
                    "apiservicedefinitions": csv["spec"]["apiservicedefinitions"],
                    "nativeApis": csv["spec"]["nativeAPIs"], "relatedImages": ["example.com/image:1"],
                },
            }],
        },
    });
    pretty_assert(&object, &rewritten::<PackageManifest>(&object));
}

#[test]
fn a_deployment_is_kept_to_the_letter() {
    let deployment = json!({
        "replicas": 1, "selector": null, "strategy": {}, "fromTheFuture": {"list": [], "half": 0.5},
        "template": {"metadata": {"creationTimestamp": null}, "spec": {"containers": []}},
    });
    let object = json!({"spec": {"install": {"strategy": "deployment", "spec": {
        "deployments": [{"name": "a", "spec": deployment}],
    }}}});
    let written = rewritten::<ClusterServiceVersion>(&object);
    assert_eq!(written["spec"]["install"]["spec"]["deployments"][0]["spec"], deployment);
}

#[rstest]
#[case::text(json!("\"quoted\""))]
#[case::object(json!({"a": [1, 2.5, null]}))]
#[case::number(json!(3))]
fn a_descriptor_holds_any_value(#[case] value: Value) {
    let object = json!({"spec": {"customresourcedefinitions": {"owned": [
        {"name": "a.b", "version": "v1", "kind": "A", "specDescriptors": [{"path": "x", "value": value}]},
    ]}}});
    let written = rewritten::<ClusterServiceVersion>(&object);
    assert_eq!(
        written["spec"]["customresourcedefinitions"],
        object["spec"]["customresourcedefinitions"]
    );
}

#[test]
fn explicit_nulls_and_missing_required_fields_read_as_empty() {
    let object = json!({"metadata": null, "status": null, "spec": {
        "keywords": null, "labels": null, "icon": null, "provider": null, "install": null,
    }});
    let csv: ClusterServiceVersion = serde_json::from_value(object).unwrap();
    assert_eq!(csv, ClusterServiceVersion::default());
}

#[rstest]
#[case::operator(rewritten::<Operator>)]
#[case::olm_config(rewritten::<OLMConfig>)]
#[case::operator_condition(rewritten::<OperatorCondition>)]
#[case::operator_group(rewritten::<OperatorGroup>)]
fn an_object_without_spec_can_be_read(#[case] rewrite: fn(&Value) -> Value) {
    let written = rewrite(&json!({"metadata": {"name": "a"}}));
    assert_eq!(written["spec"], json!({}));
    assert_eq!(written.get("status"), None);
}
