//! What `kubectl apply` makes of an object that is there already.
//!
//! What the manifest says holds. What an earlier manifest said and this one no longer does is taken away; the rest
//! stays, as others have written it. Earlier manifests are in an annotation (client-side apply), or in the record of
//! who applied which field (server-side apply).

use olm_effect::apply_merge_patch;
use olm_types::annotations::LAST_APPLIED_CONFIGURATION;
use olm_types::document::{Budget, Meter, json};
use serde_json::{Map, Value};

/// Start of the keys of fields in `managedFields`.
const FIELD: &str = "f:";

/// The object after a manifest was applied to it. `manager` applies it server-side; without one it is applied as it
/// was before.
///
/// # Errors
/// Several managers have applied fields of it, and which one applies the manifest is not said: their names.
pub(super) fn applied(
    live: &Value,
    manifest: &Value,
    manager: Option<&str>,
) -> Result<Value, Vec<String>> {
    let (mut object, manifest) = (live.clone(), without_status(manifest));
    match last_applied(live).filter(|_| manager.is_none()) {
        Some(earlier) => {
            let annotated = with_annotations(manifest.clone());
            take_away(&mut object, &without_status(&earlier), &annotated);
        }
        None => release(live, manager, &mut object, &manifest)?,
    }
    apply_merge_patch(&mut object, &manifest);
    Ok(object)
}

/// A status is no part of what is applied, and what only the API server writes is none either.
pub(super) fn without_status(manifest: &Value) -> Value {
    let mut object = manifest.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let kept = ["name", "namespace", "labels", "annotations", "finalizers"];
        metadata.retain(|field, value| kept.contains(&field.as_str()) && !value.is_null());
    }
    object
}

/// The manifest that was applied last, as kubectl notes it. One that cannot be read says nothing.
fn last_applied(live: &Value) -> Option<Value> {
    let text = live.get("metadata")?.get("annotations")?.get(LAST_APPLIED_CONFIGURATION)?;
    json(text.as_str()?.as_bytes(), &mut Meter::in_all(Budget::OBJECT)).ok()
}

/// kubectl notes the manifest in an annotation of it, so that none is ever without annotations.
fn with_annotations(mut manifest: Value) -> Value {
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    }
    manifest
}

/// Client-side: what the earlier manifest has and this one has not goes as a whole.
fn take_away(live: &mut Value, earlier: &Value, manifest: &Value) {
    let (Some(live), Some(earlier)) = (live.as_object_mut(), earlier.as_object()) else { return };
    for (key, earlier) in earlier {
        match (manifest.get(key), live.get_mut(key)) {
            (None, _) => drop(live.remove(key)),
            (Some(manifest), Some(live)) => take_away(live, earlier, manifest),
            (Some(_), None) => {}
        }
    }
}

/// Server-side: fields go that the manager applied before, and that no other manager has.
fn release(
    live: &Value,
    manager: Option<&str>,
    object: &mut Value,
    manifest: &Value,
) -> Result<(), Vec<String>> {
    let entries = live.pointer("/metadata/managedFields").and_then(Value::as_array);
    let entries = entries.map(Vec::as_slice).unwrap_or_default();
    let is_own = |entry: &&Value| {
        is_applied(entry) && manager.is_none_or(|manager| entry["manager"] == manager)
    };
    let (own, others): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(is_own);
    let fields = |entry: &&Value| entry.get("fieldsV1").cloned().unwrap_or_default();
    match own.as_slice() {
        [] => {}
        [own] => {
            let others: Vec<Value> = others.iter().map(fields).collect();
            give_up(object, &fields(own), &others.iter().collect::<Vec<_>>(), manifest);
        }
        several => {
            let names = several.iter().filter_map(|entry| entry["manager"].as_str());
            return Err(names.map(str::to_owned).collect());
        }
    }
    Ok(())
}

/// Whether the fields were applied, and not those of a status.
fn is_applied(entry: &Value) -> bool {
    let subresource = entry["subresource"].as_str().unwrap_or_default();
    entry["operation"] == "Apply" && subresource.is_empty()
}

fn give_up(live: &mut Value, own: &Value, others: &[&Value], manifest: &Value) {
    let Some(live) = live.as_object_mut() else { return };
    for (key, name, own) in fields(own) {
        let others: Vec<&Value> = others.iter().filter_map(|other| other.get(key)).collect();
        let Some(field) = live.get_mut(name) else { continue };
        let is_gone = match fields(own).next() {
            None => others.is_empty(),
            Some(_) => {
                give_up(field, own, &others, &manifest[name]);
                field.as_object().is_some_and(Map::is_empty)
            }
        };
        if is_gone && manifest.get(name).is_none() {
            live.remove(name);
        }
    }
}

/// The fields below one of `managedFields`: its key there, its name, and what is below it.
fn fields(entry: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let all = entry.as_object().into_iter().flatten();
    all.filter_map(|(key, below)| Some((key.as_str(), key.strip_prefix(FIELD)?, below)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// An object with two annotations, two fields in its spec and a status.
    fn live() -> Value {
        json!({"kind": "K", "metadata": {"name": "n", "uid": "u", "annotations": {"a": "1", "b": "2"}},
            "spec": {"x": 1, "config": {"one": 1, "two": 2}}, "status": {"s": 1}})
    }

    fn with_annotation(earlier: &Value) -> Value {
        let mut live = live();
        live["metadata"]["annotations"][LAST_APPLIED_CONFIGURATION] = json!(earlier.to_string());
        live
    }

    /// The annotations and the spec after a manifest with these was applied.
    fn after(live: &Value, manifest: &Value, manager: Option<&str>) -> (Value, Value) {
        let mut after = applied(live, manifest, manager).unwrap();
        assert_eq!((&after["metadata"]["uid"], &after["status"]), (&json!("u"), &json!({"s": 1})));
        let annotations = after["metadata"]["annotations"].as_object_mut().unwrap();
        annotations.remove(LAST_APPLIED_CONFIGURATION);
        (after["metadata"]["annotations"].take(), after["spec"].take())
    }

    #[rstest]
    #[case::gone(json!({"metadata": {"annotations": {"a": "1"}}, "spec": {"x": 1}}),
        json!({"b": "2"}), json!({"config": {"one": 1, "two": 2}}))]
    #[case::as_a_whole(json!({"spec": {"config": {"one": 1}}}),
        json!({"a": "1", "b": "2"}), json!({"x": 1}))]
    #[case::nothing(json!({}), json!({"a": "1", "b": "2"}), json!({"x": 1, "config": {"one": 1, "two": 2}}))]
    #[case::a_status_is_not_applied(json!({"status": {"s": 1}, "metadata": {"uid": "u"}}),
        json!({"a": "1", "b": "2"}), json!({"x": 1, "config": {"one": 1, "two": 2}}))]
    fn what_the_earlier_manifest_had_goes(
        #[case] earlier: Value,
        #[case] annotations: Value,
        #[case] spec: Value,
    ) {
        let manifest =
            json!({"kind": "K", "metadata": {"name": "n", "annotations": {}}, "spec": {}});
        assert_eq!(after(&with_annotation(&earlier), &manifest, None), (annotations, spec));
    }

    /// Those of others stay.
    #[rstest]
    #[case::left_out(json!({"name": "n"}))]
    #[case::empty(json!({"name": "n", "annotations": null}))]
    fn a_manifest_without_annotations_takes_its_own_away(#[case] metadata: Value) {
        let live = with_annotation(&json!({"metadata": {"annotations": {"a": "1"}}}));
        let (annotations, _) = after(&live, &json!({"kind": "K", "metadata": metadata}), None);
        assert_eq!(annotations, json!({"b": "2"}));
    }

    #[test]
    fn what_the_manifest_says_holds() {
        let manifest = json!({"kind": "K", "status": {"s": 2},
            "metadata": {"name": "n", "uid": "of another", "annotations": {"b": "3"}},
            "spec": {"x": null, "config": {"two": [2]}, "new": {"none": null}}});
        let expected = json!({"config": {"one": 1, "two": [2]}, "new": {}});
        assert_eq!(after(&live(), &manifest, None), (json!({"a": "1", "b": "3"}), expected));
    }

    /// As an API server records it: who, how, where, and of what.
    fn entry(manager: &str, operation: &str, subresource: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "subresource": subresource,
            "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    fn applied_fields() -> Value {
        json!({"f:metadata": {"f:annotations": {".": {}, "f:a": {}}},
            "f:spec": {"f:x": {}, "f:config": {"f:one": {}}}})
    }

    #[rstest]
    #[case::alone(vec![entry("flux", "Apply", "", applied_fields())], None,
        json!({"b": "2"}), json!({"config": {"two": 2}}))]
    #[case::another_has_it(vec![entry("flux", "Apply", "", applied_fields()),
        entry("edit", "Update", "", json!({"f:spec": {"f:x": {}}}))], None,
        json!({"b": "2"}), json!({"x": 1, "config": {"two": 2}}))]
    #[case::named(vec![entry("flux", "Apply", "", applied_fields()), entry("argocd", "Apply", "", json!({}))],
        Some("flux"), json!({"b": "2"}), json!({"config": {"two": 2}}))]
    #[case::for_the_first_time(vec![entry("flux", "Apply", "", applied_fields())], Some("argocd"),
        json!({"a": "1", "b": "2"}), json!({"x": 1, "config": {"one": 1, "two": 2}}))]
    #[case::written_otherwise(vec![entry("flux", "Update", "", applied_fields())], None,
        json!({"a": "1", "b": "2"}), json!({"x": 1, "config": {"one": 1, "two": 2}}))]
    #[case::of_a_status(vec![entry("flux", "Apply", "status", json!({"f:status": {"f:s": {}}}))], None,
        json!({"a": "1", "b": "2"}), json!({"x": 1, "config": {"one": 1, "two": 2}}))]
    fn what_the_manager_applied_goes(
        #[case] entries: Vec<Value>,
        #[case] manager: Option<&str>,
        #[case] annotations: Value,
        #[case] spec: Value,
    ) {
        let mut live = live();
        live["metadata"]["managedFields"] = Value::Array(entries);
        let manifest =
            json!({"kind": "K", "metadata": {"name": "n", "annotations": {}}, "spec": {}});
        assert_eq!(after(&live, &manifest, manager), (annotations, spec));
    }

    #[test]
    fn several_managers_are_named() {
        let mut live = live();
        let entries = ["flux", "argocd"].map(|name| entry(name, "Apply", "", applied_fields()));
        live["metadata"]["managedFields"] = json!(entries);
        assert_eq!(applied(&live, &json!({"kind": "K"}), None).unwrap_err(), ["flux", "argocd"]);
    }

    #[rstest]
    #[case::no_json("{")]
    #[case::no_object("[]")]
    #[case::deep(&"[".repeat(1_000))]
    fn an_annotation_that_cannot_be_read_says_nothing(#[case] text: &str) {
        let mut live = live();
        live["metadata"]["annotations"][LAST_APPLIED_CONFIGURATION] = json!(text);
        let (annotations, spec) = after(&live, &json!({"spec": {"x": 2}}), None);
        assert_eq!((annotations, &spec["x"]), (json!({"a": "1", "b": "2"}), &json!(2)));
    }
}
