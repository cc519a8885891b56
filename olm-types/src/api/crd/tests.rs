//! What holds for every generated schema, whatever the kind: the rules for structural schemas.

use serde_json::{Map, Value};

use super::crds;

/// Keywords that hold schemas, other than `properties`.
const NESTED: [&str; 2] = ["items", "additionalProperties"];

/// Calls `check` with the path and the keywords of every schema of every definition.
fn for_each_schema(check: &mut dyn FnMut(&str, &Map<String, Value>)) {
    for crd in crds() {
        for version in &crd.spec.versions {
            let schema = serde_json::to_value(&version.schema).unwrap();
            let path = format!("{}/{}", crd.spec.names.plural, version.name);
            visit(&path, &schema["openAPIV3Schema"], check);
        }
    }
}

fn visit(path: &str, node: &Value, check: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let keywords = node.as_object().unwrap();
    check(path, keywords);
    for (name, child) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        visit(&format!("{path}.{name}"), child, check);
    }
    for key in NESTED {
        if let Some(child) = keywords.get(key) {
            visit(&format!("{path}.{key}"), child, check);
        }
    }
}

#[test]
fn every_schema_has_a_type_or_is_int_or_string() {
    for_each_schema(&mut |path, keywords| {
        let int_or_string = keywords.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
        assert_ne!(keywords.contains_key("type"), int_or_string, "{path}");
    });
}

#[test]
fn only_keywords_of_structural_schemas_are_used() {
    let forbidden =
        ["$ref", "definitions", "nullable", "uniqueItems", "allOf", "oneOf", "not", "title", "id"];
    for_each_schema(&mut |path, keywords| {
        let found: Vec<_> =
            forbidden.iter().filter(|keyword| keywords.contains_key(**keyword)).collect();
        assert!(found.is_empty(), "{path}: {found:?}");
    });
}

#[test]
fn no_schema_has_both_named_and_free_properties() {
    for_each_schema(&mut |path, keywords| {
        assert!(
            !(keywords.contains_key("properties") && keywords.contains_key("additionalProperties")),
            "{path}"
        );
    });
}

#[test]
fn arrays_have_items_and_required_fields_exist() {
    for_each_schema(&mut |path, keywords| {
        let is_array = keywords.get("type") == Some(&Value::from("array"));
        assert_eq!(is_array, keywords.contains_key("items"), "{path}");
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(keywords["properties"].get(name.as_str().unwrap()).is_some(), "{path}: {name}");
        }
    });
}

#[test]
fn formats_are_known_to_the_api_server() {
    for_each_schema(&mut |path, keywords| {
        let format = keywords.get("format").and_then(Value::as_str);
        let known = ["int32", "int64", "double", "byte", "date-time"];
        assert!(format.is_none_or(|format| known.contains(&format)), "{path}: {format:?}");
    });
}

#[test]
fn one_version_of_each_kind_is_stored() {
    for crd in crds() {
        assert_eq!(
            crd.spec.versions.iter().filter(|version| version.storage).count(),
            1,
            "{}",
            crd.spec.names.kind
        );
    }
}

#[test]
fn definitions_are_ordered_by_name_and_always_the_same() {
    let names: Vec<_> = crds().into_iter().map(|crd| crd.metadata.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(crds(), crds());
}
