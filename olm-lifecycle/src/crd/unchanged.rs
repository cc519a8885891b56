//! A definition that a plan brings although the cluster has it: several operators own it, or a new
//! version of its operator did not change it.
//!
//! No object becomes invalid by that, so none is looked at, and only metadata is written. Version 0
//! reads every object and puts the whole definition, so plans of many namespaces keep each other
//! from writing, and the labels of components go and come back.

use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use olm_types::labels::COMPONENT_PREFIX;
use serde_json::{Map, Value, json};

use super::text;

/// Whether the live definition specifies what is desired.
pub(super) fn is_specified(live: &Value, desired: &Value) -> bool {
    match (live.get("spec"), desired.get("spec")) {
        (Some(live), Some(spec)) => *live == with_defaults(spec),
        _ => false,
    }
}

/// The merge patch that brings labels and annotations of `desired` and takes back records of CSVs
/// that it lacks. What others wrote stays.
pub(super) fn metadata_patch(live: &Value, desired: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["labels", "annotations"] {
        let (before, wanted) = (entries(live, field), entries(desired, field));
        let stale = |key: &&String| {
            key.starts_with(INSTALLED_ALONGSIDE_PREFIX)
                && wanted.is_none_or(|wanted| !wanted.contains_key(*key))
        };
        let gone = before.into_iter().flatten().map(|(key, _)| key).filter(stale);
        let mut patch: Map<String, Value> = gone.map(|key| (key.clone(), Value::Null)).collect();
        let is_new =
            |key: &str, value: &Value| before.and_then(|before| before.get(key)) != Some(value);
        let new = wanted.into_iter().flatten().filter(|(key, value)| is_new(key, value));
        patch.extend(new.map(|(key, value)| (key.clone(), value.clone())));
        if !patch.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(patch));
        }
    }
    json!({ "metadata": metadata })
}

/// Keeps the labels by which Operators know their components.
pub(super) fn keep_component_labels(object: &mut Value, live: &Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let of_components = |(key, _): &(&String, &Value)| key.starts_with(COMPONENT_PREFIX);
    let found = entries(live, "labels").into_iter().flatten().filter(of_components);
    let found: Vec<_> = found.map(|(key, value)| (key.clone(), value.clone())).collect();
    if found.is_empty() {
        return;
    }
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        found.into_iter().for_each(|(key, value)| {
            labels.entry(key).or_insert(value);
        });
    }
}

/// The specification as the API server shows it: what it fills in where a manifest is silent.
fn with_defaults(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let kind = text(&spec, "/names/kind").to_owned();
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
        names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
    }
    if let Some(fields) = spec.as_object_mut() {
        fields.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    }
    spec
}

fn entries<'a>(object: &'a Value, field: &str) -> Option<&'a Map<String, Value>> {
    object.get("metadata")?.get(field)?.as_object()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn live() -> Value {
        json!({"spec": {
            "group": "g",
            "names": {"kind": "Tool", "plural": "tools", "singular": "tool", "listKind": "ToolList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "schema": {"properties": {"a": {}, "b": {}}}}],
        }})
    }

    #[rstest]
    #[case::as_it_is(live(), true)]
    #[case::without_defaults(json!({"spec": {
        "group": "g", "names": {"kind": "Tool", "plural": "tools"},
        "versions": [{"name": "v1", "schema": {"properties": {"a": {}, "b": {}}}}],
    }}), true)]
    #[case::a_field_less(json!({"spec": {
        "group": "g", "names": {"kind": "Tool", "plural": "tools"},
        "versions": [{"name": "v1", "schema": {"properties": {"a": {}}}}],
    }}), false)]
    #[case::nothing(json!({}), false)]
    fn equal_up_to_defaults(#[case] desired: Value, #[case] expected: bool) {
        assert_eq!(is_specified(&live(), &desired), expected);
    }

    #[test]
    fn the_patch_leaves_alone_what_others_wrote() {
        let mine = format!("{INSTALLED_ALONGSIDE_PREFIX}1");
        let gone = format!("{INSTALLED_ALONGSIDE_PREFIX}2");
        let live = json!({"metadata": {
            "labels": {"olm.managed": "true", "team": "a"},
            "annotations": {&gone: "ns/b", "note": "x"},
        }});
        let desired = json!({"metadata": {
            "labels": {"olm.managed": "true"},
            "annotations": {&mine: "ns/a"},
        }});
        let expected = json!({"metadata": {"annotations": {&mine: "ns/a", &gone: null}}});
        assert_eq!(metadata_patch(&live, &desired), expected);
        assert_eq!(metadata_patch(&live, &live), json!({"metadata": {}}));
    }

    #[test]
    fn only_labels_of_components_are_kept() {
        let label = format!("{COMPONENT_PREFIX}tool.ns");
        let live = json!({"metadata": {"labels": {&label: "", "team": "a"}}});
        let mut object = json!({"metadata": {"name": "tools.g"}});
        keep_component_labels(&mut object, &live);
        assert_eq!(object, json!({"metadata": {"name": "tools.g", "labels": {&label: ""}}}));
    }
}
