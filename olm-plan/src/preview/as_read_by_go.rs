//! What OLM v0 writes otherwise than bundles do. It reads CSVs and Subscriptions into Go structs, and writes into its
//! InstallPlans what those say: `strategy: {}`, `cleanup: {enabled: false}` and the like, which no bundle has, and
//! quantities in a form of its own.

use olm_types::unset::is_unset;
use serde_json::Value;

use super::quantities::canonicalize;

/// Removes what says nothing from an object that v0 writes itself, and writes quantities as v0 does. Of the others the
/// text of the bundle stays as it is: the kind of a generated Subscription, of roles and of ServiceAccounts is said by
/// their steps alone.
pub(super) fn as_read_by_go(object: &mut Value) {
    match object.get("kind").and_then(Value::as_str) {
        Some("Subscription") => forget_kind(object),
        Some("ClusterServiceVersion") | None => {}
        Some(_) => return,
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
        && spec
            .get("cleanup")
            .is_some_and(|cleanup| cleanup.get("enabled") == Some(&Value::Bool(false)))
    {
        spec.remove("cleanup");
    }
    prune(object);
    canonicalize(object);
}

fn forget_kind(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    ["kind", "apiVersion"].into_iter().for_each(|field| drop(fields.remove(field)));
}

/// Items of lists stay, as their places say something.
fn prune(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(prune);
            fields.retain(|_, value| !is_unset(value));
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn csv(spec: Value) -> Value {
        json!({"kind": "ClusterServiceVersion", "metadata": {"name": "a"}, "spec": spec})
    }

    #[rstest]
    #[case::as_go_writes(json!({
        "version": "1", "displayName": "", "cleanup": {"enabled": false}, "apiservicedefinitions": {},
        "install": {"spec": {"deployments": [{"name": "d", "spec": {"strategy": {}, "template": {
            "metadata": {"creationTimestamp": null}, "spec": {"containers": [{"resources": {}}]}}}}]}},
    }), json!({
        "version": "1", "install": {"spec": {"deployments": [{"name": "d", "spec": {"template": {
            "spec": {"containers": [{}]}}}}]}},
    }))]
    #[case::what_says_something(
        json!({"cleanup": {"enabled": true}, "a": {"b": false, "c": 0, "groups": [""]}}),
        json!({"cleanup": {"enabled": true}, "a": {"b": false, "c": 0, "groups": [""]}})
    )]
    fn what_is_empty_is_left_out(#[case] written: Value, #[case] expected: Value) {
        let mut written = csv(written);
        written["status"] = json!({"cleanup": {}});
        as_read_by_go(&mut written);
        assert_eq!(written, csv(expected));
    }

    #[test]
    fn a_subscription_is_the_same_with_its_kind_and_without() {
        let metadata = json!({"name": "a", "namespace": "ns"});
        let mut with = json!({"kind": "Subscription", "apiVersion": "v", "metadata": metadata});
        let mut without = json!({"metadata": metadata, "status": {"lastUpdated": null}});
        [&mut with, &mut without].into_iter().for_each(as_read_by_go);
        assert_eq!(with, without);
    }

    #[test]
    fn other_kinds_stay_as_their_bundle_has_them() {
        let object = json!({"kind": "NetworkPolicy", "spec": {"podSelector": {}}});
        let mut same = object.clone();
        as_read_by_go(&mut same);
        assert_eq!(same, object);
    }
}
