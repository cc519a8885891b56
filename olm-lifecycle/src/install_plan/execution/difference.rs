//! The patch that makes a live object equal to a desired one (spec catalog-operator 4.4, "patch").
//!
//! A merge patch (RFC 7386): fields that the desired object holds are set, and inside the
//! [`EXACT_METADATA`] maps and the paths that a kind names, what only the live object holds is
//! deleted. Everything else that only the live object holds stays: defaults, cluster IPs, uid,
//! finalizers, status, and the labels of components.

use olm_types::labels::COMPONENT_PREFIX;
use serde_json::{Map, Value};

/// Parts of `metadata` that become exactly what is desired.
const EXACT_METADATA: [&str; 3] = ["labels", "annotations", "ownerReferences"];

/// The merge patch from `live` to `desired`, or nothing when they agree.
///
/// `exact` names top-level fields, or second-level fields as `outer.inner`, that are deleted or
/// emptied of what only `live` holds.
pub fn merge_patch(live: &Value, desired: &Value, exact: &[&str]) -> Option<Value> {
    let (live, desired) = (live.as_object()?, desired.as_object()?);
    let mut patch = Map::new();
    for (key, wanted) in desired.iter().filter(|(key, _)| is_content(key)) {
        let difference = match key.as_str() {
            "metadata" => metadata_patch(live.get(key), wanted),
            _ => field_patch(live.get(key), wanted, Exactness::of(key, exact)),
        };
        if let Some(difference) = difference {
            patch.insert(key.clone(), difference);
        }
    }
    for key in exact.iter().filter(|key| live.contains_key(**key) && !desired.contains_key(**key)) {
        patch.insert((*key).to_owned(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Type and status are not part of what a patch of the object changes.
fn is_content(key: &str) -> bool {
    !matches!(key, "apiVersion" | "kind" | "status")
}

/// Which keys of a map go when the desired object lacks them.
#[derive(Clone, Copy)]
enum Exactness<'a> {
    None,
    All,
    /// Those keys of the map whose own content is exact.
    Inner(&'a str, &'a [&'a str]),
}

impl<'a> Exactness<'a> {
    fn of(key: &'a str, exact: &'a [&'a str]) -> Self {
        if exact.contains(&key) { Self::All } else { Self::Inner(key, exact) }
    }

    fn inside(self, key: &str) -> Self {
        match self {
            Self::All => Self::All,
            Self::Inner(outer, exact)
                if exact.iter().any(|path| path.split_once('.') == Some((outer, key))) =>
            {
                Self::All
            }
            Self::None | Self::Inner(..) => Self::None,
        }
    }
}

fn metadata_patch(live: Option<&Value>, desired: &Value) -> Option<Value> {
    let empty = Map::new();
    let live = live.and_then(Value::as_object).unwrap_or(&empty);
    let desired = desired.as_object()?;
    let mut patch = Map::new();
    for key in EXACT_METADATA {
        let wanted = desired.get(key).filter(|value| !value.is_null());
        let kept = with_components(live.get(key), wanted);
        let difference = match (live.get(key), kept.as_ref().or(wanted)) {
            (Some(_), None) => Some(Value::Null),
            (live, Some(wanted)) => field_patch(live, wanted, Exactness::All),
            (None, None) => None,
        };
        if let Some(difference) = difference {
            patch.insert(key.to_owned(), difference);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The desired map with the labels by which Operators know their components, if `live` has such:
/// taken away, they would only come back.
fn with_components(live: Option<&Value>, desired: Option<&Value>) -> Option<Value> {
    let of_components = |(key, _): &(&String, &Value)| key.starts_with(COMPONENT_PREFIX);
    let found = live.and_then(Value::as_object).into_iter().flatten().filter(of_components);
    let mut kept: Map<String, Value> =
        found.map(|(key, value)| (key.clone(), value.clone())).collect();
    if kept.is_empty() {
        return None;
    }
    kept.extend(desired.and_then(Value::as_object).cloned().unwrap_or_default());
    Some(Value::Object(kept))
}

fn field_patch(live: Option<&Value>, desired: &Value, exactness: Exactness<'_>) -> Option<Value> {
    match (live, desired) {
        (Some(live), wanted) if live == wanted => None,
        (None, Value::Null) => None,
        (Some(Value::Object(live)), Value::Object(wanted)) => map_patch(live, wanted, exactness),
        (_, wanted) => Some(without_nulls(wanted)),
    }
}

fn map_patch(
    live: &Map<String, Value>,
    desired: &Map<String, Value>,
    exactness: Exactness<'_>,
) -> Option<Value> {
    let mut patch = Map::new();
    for (key, wanted) in desired {
        if let Some(difference) = field_patch(live.get(key), wanted, exactness.inside(key)) {
            patch.insert(key.clone(), difference);
        }
    }
    if matches!(exactness, Exactness::All) {
        for key in live.keys().filter(|key| !desired.contains_key(*key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// In a merge patch a null deletes; in a whole value it says nothing.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::equal(json!({"rules": [1]}), json!({"rules": [1]}), &["rules"], None)]
    #[case::status_and_type_do_not_count(json!({"kind": "A", "status": {"x": 1}}), json!({"kind": "B", "status": {}}), &[], None)]
    #[case::labels_of_components_stay(
        json!({"metadata": {"labels": {"operators.coreos.com/a.ns": "", "old": "1"}}}), json!({"metadata": {"labels": {"new": "1"}}}),
        &[], Some(json!({"metadata": {"labels": {"new": "1", "old": null}}}))
    )]
    #[case::no_label_but_those_of_components(
        json!({"metadata": {"labels": {"operators.coreos.com/a.ns": ""}}}), json!({"metadata": {}}), &[], None
    )]
    #[case::array_replaced(json!({"rules": [1, 2]}), json!({"rules": [2]}), &["rules"], Some(json!({"rules": [2]})))]
    #[case::exact_field_deleted(json!({"aggregationRule": {}}), json!({}), &["aggregationRule"], Some(json!({"aggregationRule": null})))]
    #[case::default_stays(json!({"spec": {"type": "ClusterIP", "a": 1}}), json!({"spec": {"a": 2}}), &[], Some(json!({"spec": {"a": 2}})))]
    #[case::inner_exact(
        json!({"spec": {"selector": {"old": "1"}, "type": "ClusterIP"}}), json!({"spec": {"selector": {"new": "1"}}}),
        &["spec.selector"], Some(json!({"spec": {"selector": {"new": "1", "old": null}}}))
    )]
    #[case::data_key_deleted(json!({"data": {"a": "1", "b": "2"}}), json!({"data": {"a": "1"}}), &["data"], Some(json!({"data": {"b": null}})))]
    #[case::metadata_is_exact_but_keeps_what_the_server_sets(
        json!({"metadata": {"uid": "u", "finalizers": ["f"], "labels": {"old": "1"}, "annotations": {"a": "1"}}}),
        json!({"metadata": {"name": "n", "labels": {"new": "2"}, "creationTimestamp": null}}),
        &[], Some(json!({"metadata": {"labels": {"old": null, "new": "2"}, "annotations": null}}))
    )]
    fn patches(
        #[case] live: Value,
        #[case] desired: Value,
        #[case] exact: &[&str],
        #[case] patch: Option<Value>,
    ) {
        assert_eq!(merge_patch(&live, &desired, exact), patch);
    }
}
