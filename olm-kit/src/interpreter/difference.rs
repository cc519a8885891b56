//! Whether an effect would change what its decision observed.
//!
//! What the API server manages is not compared: a decision cannot set it, so it cannot be a reason
//! to write. Where this module cannot decide, the effect is sent and the `resourceVersion` of the
//! answer decides.

use olm_effect::{Action, Subresource};
use serde_json::{Map, Value};

use super::strategic;

/// What is compared by itself.
const METADATA: &str = "metadata";

/// Fields of `metadata` that the API server sets.
const SERVER_MANAGED: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Whether the action is known to change nothing.
pub(super) fn is_none(action: &Action) -> bool {
    match action {
        Action::Replace { object, observed: Some(observed) } => same_object(object, observed),
        Action::MergePatch { patch, observed: Some(observed), subresource } => {
            let mut merged = observed.clone();
            json_patch::merge(&mut merged, patch);
            match subresource {
                Subresource::Main => same_content(&merged, observed, &[METADATA]),
                Subresource::Status => same_status(&merged, observed),
            }
        }
        Action::StrategicPatch { patch, observed: Some(observed) } => {
            strategic::changes_nothing(&without_server_managed(patch), observed)
        }
        Action::Status { object, observed: Some(observed) } => same_status(object, observed),
        Action::Replace { .. }
        | Action::MergePatch { .. }
        | Action::StrategicPatch { .. }
        | Action::Status { .. }
        | Action::Create(_)
        | Action::Apply { .. }
        | Action::Delete { .. }
        | Action::Event(_) => false,
    }
}

/// The object as the decision saw it.
pub(super) fn observed(action: &Action) -> Option<&Value> {
    match action {
        Action::Replace { observed, .. }
        | Action::MergePatch { observed, .. }
        | Action::StrategicPatch { observed, .. }
        | Action::Status { observed, .. } => observed.as_ref(),
        Action::Create(_) | Action::Apply { .. } | Action::Delete { .. } | Action::Event(_) => None,
    }
}

/// The `resourceVersion` of an object.
pub(super) fn version(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("resourceVersion")?.as_str()
}

/// Whether putting `object` over `observed` changes nothing. A status that the object does not
/// carry is not compared: the API server keeps it.
fn same_object(object: &Value, observed: &Value) -> bool {
    match object.get("status") {
        None => same_content(object, observed, &[METADATA, "status"]),
        Some(_) => same_content(object, observed, &[METADATA]),
    }
}

fn same_status(object: &Value, observed: &Value) -> bool {
    let (one, other) = (object.get("status"), observed.get("status"));
    same(one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null))
}

/// Whether two objects are the same but for server-managed metadata; `apart` are the fields that are not
/// compared with the others, the metadata among them.
fn same_content(one: &Value, other: &Value, apart: &[&str]) -> bool {
    let (Value::Object(fields), Value::Object(others)) = (one, other) else {
        return same(one, other);
    };
    same_fields(fields, others, apart)
        && match (fields.get(METADATA), others.get(METADATA)) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => {
                same_fields(one, other, &SERVER_MANAGED)
            }
            (one, other) => same(one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null)),
        }
}

/// Whether two values are the same where a null means absence, as the API server takes it for known fields.
/// Nothing is copied: plans and CSVs are large. Depth is that of the objects, which `serde_json` bounds when it
/// reads one.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_fields(one, other, &[]),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other,
    }
}

fn same_fields(one: &Map<String, Value>, other: &Map<String, Value>, apart: &[&str]) -> bool {
    let counts =
        |(name, value): &(&String, &Value)| !value.is_null() && !apart.contains(&name.as_str());
    let in_other = |name: &String, value: &Value| other.get(name).is_some_and(|it| same(value, it));
    one.iter().filter(counts).count() == other.iter().filter(counts).count()
        && one.iter().filter(counts).all(|(name, value)| in_other(name, value))
}

/// The object without server-managed metadata and without nulls, which mean absence.
fn without_server_managed(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_MANAGED {
            metadata.remove(field);
        }
    }
    without_nulls(object)
}

/// Drops null fields, as the API server does with those of known fields; depth is that of the
/// object, which serde_json bounds when it reads one.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                kept.map(|(name, value)| (name, without_nulls(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn observed_object() -> Value {
        json!({
            "metadata": {"name": "a", "labels": {"app": "a"}, "resourceVersion": "7", "uid": "u",
                "generation": 3, "managedFields": [{"manager": "m"}]},
            "spec": {"replicas": 1},
            "status": {"phase": "Pending", "conditions": [{"type": "Ready"}]},
        })
    }

    #[rstest::rstest]
    #[case::same_without_status(json!({"metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"replicas": 1}}), true)]
    #[case::null_is_absent(json!({"metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"replicas": 1, "paused": null}}), true)]
    #[case::older_version(json!({"metadata": {"name": "a", "labels": {"app": "a"}, "resourceVersion": "6"}, "spec": {"replicas": 1}}), true)]
    #[case::label_dropped(json!({"metadata": {"name": "a"}, "spec": {"replicas": 1}}), false)]
    #[case::spec_differs(json!({"metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"replicas": 2}}), false)]
    #[case::status_differs(json!({"metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"replicas": 1}, "status": {}}), false)]
    fn replaces(#[case] object: Value, #[case] same: bool) {
        assert_eq!(is_none(&Action::Replace { object, observed: Some(observed_object()) }), same);
    }

    #[rstest::rstest]
    #[case::nothing(json!({}), true, true)]
    #[case::guarded(json!({"metadata": {"resourceVersion": "7", "labels": {"app": "a"}}}), true, true)]
    #[case::absent_removed(json!({"metadata": {"annotations": null}}), true, true)]
    #[case::label(json!({"metadata": {"labels": {"b": "c"}}}), false, true)]
    #[case::status(json!({"status": {"phase": "Succeeded"}}), false, false)]
    fn merge_patches(#[case] patch: Value, #[case] main_same: bool, #[case] status_same: bool) {
        let same = |subresource| {
            let (patch, observed) = (patch.clone(), Some(observed_object()));
            is_none(&Action::MergePatch { patch, observed, subresource })
        };
        assert_eq!((same(Subresource::Main), same(Subresource::Status)), (main_same, status_same));
    }

    #[rstest::rstest]
    #[case(json!({"status": {"phase": "Pending", "conditions": [{"type": "Ready"}]}}), true)]
    #[case(json!({"status": {"phase": "Pending"}}), false)]
    #[case(json!({}), false)]
    fn statuses(#[case] object: Value, #[case] same: bool) {
        assert_eq!(is_none(&Action::Status { object, observed: Some(observed_object()) }), same);
    }

    #[rstest::rstest]
    #[case::null_is_absent(json!({"a": null, "b": {"c": null}}), json!({"b": {}}), true)]
    #[case::in_lists(json!({"a": [{"b": 1, "c": null}]}), json!({"a": [{"b": 1}]}), true)]
    #[case::a_null_in_a_list_is_there(json!({"a": [null]}), json!({"a": []}), false)]
    #[case::another_name(json!({"a": 1}), json!({"b": 1}), false)]
    #[case::null_for_a_value(json!({"a": 1, "b": null}), json!({"a": null, "b": 1}), false)]
    #[case::longer(json!({"a": [1]}), json!({"a": [1, 2]}), false)]
    #[case::another_kind(json!({"a": {}}), json!({"a": []}), false)]
    fn values(#[case] one: Value, #[case] other: Value, #[case] expected: bool) {
        assert_eq!((same(&one, &other), same(&other, &one)), (expected, expected));
        assert_eq!(without_nulls(one) == without_nulls(other), expected);
    }

    #[test]
    fn without_observation_everything_is_sent() {
        let object = observed_object();
        assert!(!is_none(&Action::Replace { object: object.clone(), observed: None }));
        assert!(!is_none(&Action::Status { object, observed: None }));
    }
}
