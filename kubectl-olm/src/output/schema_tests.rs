//! Tests whether what is printed as JSON and YAML is what docs/schemas says.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Kind, document};

const SCHEMA: &str = include_str!("../../../docs/schemas/kubectl-olm-v1alpha1.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Fails unless the schema describes a value as an object of this kind, down to its last field.
pub fn assert_described(kind: Kind, value: &impl Serialize) {
    let root = schema();
    let described = json!({"$ref": format!("#/$defs/{}", kind.as_str())});
    let mut wrong = Vec::new();
    check(&root, &described, &document(kind, value).unwrap(), kind.as_str(), &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
}

/// What a value has that its schema does not say, and the other way round. Fields that are not described are
/// wrong here, although they are none for a reader: what comes later has to be described, too.
fn check(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let found = root.pointer(reference.trim_start_matches('#'));
        let found = found.unwrap_or_else(|| panic!("{path}: there is no {reference}"));
        return check(root, found, value, path, wrong);
    }
    let allowed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    let is_constant = schema.get("const").is_none_or(|constant| constant == value);
    if !allowed || !is_constant || !is_type(&schema["type"], value) {
        wrong.push(format!("{path}: {value} is not {schema}"));
    }
    if schema["format"] == "date-time" && value.as_str().is_some_and(|text| !is_time(text)) {
        wrong.push(format!("{path}: {value} is no time"));
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        check(root, &schema["items"], item, &format!("{path}[{place}]"), wrong);
    }
    check_fields(root, schema, value, path, wrong);
}

fn check_fields(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    let Some(fields) = value.as_object() else { return };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !fields.contains_key(*name));
    wrong.extend(missing.map(|name| format!("{path}: {name} is missing")));
    for (name, field) in fields {
        let path = format!("{path}.{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(described), _) | (None, Some(described)) => {
                check(root, described, field, &path, wrong);
            }
            (None, None) if schema.get("properties").is_some() => {
                wrong.push(format!("{path} is not described"));
            }
            (None, None) => {}
        }
    }
}

fn is_type(wanted: &Value, value: &Value) -> bool {
    let is = |wanted: &Value| match wanted.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("null") => value.is_null(),
        other => panic!("the schema has the type {other:?}"),
    };
    match wanted {
        Value::Null => true,
        Value::Array(all) => all.iter().any(is),
        one => is(one),
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok()
}

#[test]
fn every_kind_has_a_schema_and_names_itself() {
    let root = schema();
    let listed: Vec<Value> = Kind::ALL
        .iter()
        .map(|kind| json!({"$ref": format!("#/$defs/{}", kind.as_str())}))
        .collect();
    assert_eq!(root["oneOf"], json!(listed));
    for kind in Kind::ALL {
        let described = &root["$defs"][kind.as_str()];
        assert_eq!(described["properties"]["kind"], json!({"const": kind.as_str()}), "{kind:?}");
        assert_eq!(
            described["properties"]["apiVersion"],
            json!({"const": crate::output::API_VERSION}),
            "{kind:?}"
        );
        let required = described["required"].as_array().unwrap();
        assert!(required.contains(&json!("kind")) && required.contains(&json!("apiVersion")));
    }
}

#[test]
fn what_is_not_as_the_schema_says_is_found() {
    let root = schema();
    let images = json!({"$ref": "#/$defs/images"});
    let wrong = |value: Value| {
        let mut wrong = Vec::new();
        check(&root, &images, &value, "images", &mut wrong);
        wrong
    };
    assert_eq!(wrong(json!({"gained": ["a"], "lost": []})), Vec::<String>::new());
    assert_eq!(wrong(json!({"gained": []})), ["images: lost is missing"]);
    assert_eq!(wrong(json!({"gained": [], "lost": [], "new": 1})), ["images.new is not described"]);
    let number = wrong(json!({"gained": [1], "lost": []}));
    assert!(number[0].starts_with("images.gained[0]: 1 is not "), "{number:?}");
    assert!(!is_time("yesterday") && is_time("2026-01-02T03:04:05Z"));
}
