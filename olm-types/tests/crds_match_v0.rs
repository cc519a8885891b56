//! The generated definitions have the fields and constraints of v0's, no more and no fewer.
//!
//! `data/api.json` lists, for every version of every kind, each field with its type and each
//! constraint at its path: `.spec.icon[].mediatype`, `[]` for the items of a list, `{}` for the
//! values of a map. The generated schemas are walked in the same way and all differences reported.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use olm_types::api::crds;
use serde_json::{Map, Value, json};

/// Marks a field of which only the presence is listed.
const CORE: &str = "core/v1 type";

/// Listed as an object with constraints but without the fields below it.
const OPAQUE: [&str; 2] = [".metadata", ".spec.install.spec.deployments[].spec"];

/// Keywords that say what a field is rather than constrain it.
const NOT_CONSTRAINTS: [&str; 5] =
    ["type", "description", "properties", "items", "additionalProperties"];

type Fields = BTreeMap<String, String>;
type Constraints = BTreeMap<String, Map<String, Value>>;

fn expected() -> Map<String, Value> {
    serde_json::from_str(include_str!("data/api.json")).unwrap()
}

fn generated() -> BTreeMap<String, CustomResourceDefinition> {
    crds().into_iter().map(|crd| (crd.metadata.name.clone().unwrap(), crd)).collect()
}

/// Collects the fields and constraints of a schema and of all below it, down to `stop`.
fn walk(
    path: &str,
    schema: &Value,
    stop: &BTreeSet<&str>,
    fields: &mut Fields,
    constraints: &mut Constraints,
) {
    let keywords = schema.as_object().unwrap();
    let name = if path.is_empty() { "." } else { path };
    fields.insert(name.to_owned(), type_name(schema));
    let constraint: Map<_, _> = keywords
        .iter()
        .filter(|(key, _)| !NOT_CONSTRAINTS.contains(&key.as_str()))
        .map(normal)
        .collect();
    if !constraint.is_empty() {
        constraints.insert(name.to_owned(), constraint);
    }
    if stop.contains(path) || OPAQUE.contains(&path) {
        return;
    }
    for (field, child) in schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        walk(&format!("{path}.{field}"), child, stop, fields, constraints);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(child) = schema.get(key) {
            walk(&format!("{path}{suffix}"), child, stop, fields, constraints);
        }
    }
}

fn type_name(schema: &Value) -> String {
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => "array(items)".to_owned(),
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}

/// A keyword whose value can be compared: numbers as floating point, sets of names sorted.
fn normal((key, value): (&String, &Value)) -> (String, Value) {
    let value = match (key.as_str(), value) {
        ("minimum" | "maximum", number) => json!(number.as_f64()),
        ("required", Value::Array(names)) => {
            json!(names.iter().filter_map(Value::as_str).collect::<BTreeSet<_>>())
        }
        (_, other) => other.clone(),
    };
    (key.clone(), value)
}

/// Lines that say where two maps differ.
fn differences<T: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: &BTreeMap<String, T>,
    found: &BTreeMap<String, T>,
) -> Vec<String> {
    let paths: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let differing = paths.into_iter().filter(|path| expected.get(*path) != found.get(*path));
    differing
        .map(|path| {
            format!("{what} {path}: v0 {:?}, ours {:?}", expected.get(path), found.get(path))
        })
        .collect()
}

/// Fields that v0's definitions lack, which say how far a status is (docs/differences.md).
const ADDED: [(&str, &str); 2] = [
    ("catalogsources.operators.coreos.com/v1alpha1", ".status.observedGeneration"),
    ("subscriptions.operators.coreos.com/v1alpha1", ".status.observedGeneration"),
];

/// Compares the schema of one version.
fn compare_schema(name: &str, expected: &Value, found: &Value) -> Vec<String> {
    let expected_fields: Fields = serde_json::from_value(expected["fields"].clone()).unwrap();
    let listed: Constraints = serde_json::from_value(expected["constraints"].clone()).unwrap();
    let expected_constraints: Constraints = listed
        .into_iter()
        .map(|(path, keywords)| (path, keywords.iter().map(normal).collect()))
        .collect();

    let core: BTreeSet<&str> = expected_fields
        .iter()
        .filter(|(_, kind)| *kind == CORE)
        .map(|(path, _)| path.as_str())
        .collect();
    let (mut fields, mut constraints) = (Fields::new(), Constraints::new());
    walk("", found, &core, &mut fields, &mut constraints);
    for path in ADDED.iter().filter(|(title, _)| *title == name).map(|(_, path)| *path) {
        assert!(fields.remove(path).is_some(), "{name} lacks {path}");
        constraints.remove(path);
    }
    for path in &core {
        fields.entry((*path).to_owned()).and_modify(|kind| CORE.clone_into(kind));
        constraints.remove(*path);
    }
    let mut lines = differences(&format!("{name} field"), &expected_fields, &fields);
    lines.extend(differences(&format!("{name} constraint"), &expected_constraints, &constraints));
    lines
}

#[test]
fn fields_and_constraints_are_those_of_v0() {
    let generated = generated();
    let mut lines = Vec::new();
    for (name, expected) in expected() {
        for version in expected["versions"].as_array().unwrap() {
            let title = format!("{name}/{}", version["name"].as_str().unwrap());
            let found = generated[&name]
                .spec
                .versions
                .iter()
                .find(|found| version["name"] == found.name.as_str());
            let schema =
                found.and_then(|found| found.schema.as_ref()?.open_api_v3_schema.as_ref()).unwrap();
            lines.extend(compare_schema(&title, version, &serde_json::to_value(schema).unwrap()));
        }
    }
    assert!(lines.is_empty(), "{} differences:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn every_field_of_the_list_is_walked() {
    let expected = expected();
    let csv = &expected["clusterserviceversions.operators.coreos.com"]["versions"][0];
    let mut schema = json!({"type": "object", "properties": {"spec": {"type": "object"}}});
    assert!(compare_schema("empty", csv, &schema).len() > 300);
    schema["properties"]["spec"]["minProperties"] = json!(1);
    let lines = compare_schema("narrower", csv, &schema);
    assert!(lines.iter().any(|line| line.contains("minProperties")), "{lines:?}");
}

#[test]
fn names_scope_and_versions_are_those_of_v0() {
    let generated = generated();
    assert_eq!(expected().keys().collect::<Vec<_>>(), generated.keys().collect::<Vec<_>>());
    for (name, expected) in expected() {
        let found = &generated[&name];
        assert_eq!(expected["group"], found.spec.group.as_str(), "{name}");
        assert_eq!(expected["scope"], found.spec.scope.as_str(), "{name}");
        assert_eq!(expected["names"], serde_json::to_value(&found.spec.names).unwrap(), "{name}");
        assert!(expected["conversion"].is_null() && found.spec.conversion.is_none(), "{name}");
        let versions: Vec<Value> = found.spec.versions.iter().map(version_frame).collect();
        let expected_versions = expected["versions"].as_array().unwrap().iter().map(without_schema);
        assert_eq!(expected_versions.collect::<Vec<_>>(), versions, "{name}");
    }
}

/// Everything about a version but its schema, in the form of the list.
fn version_frame(
    version: &k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionVersion,
) -> Value {
    json!({
        "name": version.name,
        "served": version.served,
        "storage": version.storage,
        "deprecated": version.deprecated.unwrap_or(false),
        "subresources": version.subresources,
        "printerColumns": version.additional_printer_columns,
    })
}

fn without_schema(version: &Value) -> Value {
    let mut frame = version.clone();
    let keywords = frame.as_object_mut().unwrap();
    keywords.remove("fields");
    keywords.remove("constraints");
    frame
}
