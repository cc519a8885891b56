//! Which copies are due, and which go.

use olm_kit::ObjectKey;
use olm_kit::watch::Store;
use olm_lifecycle::copied_csv::Prototype;
use olm_types::api::ClusterServiceVersion;
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::CopyKey;
use super::observe::{deletions, observe};
use super::targets::due;
use crate::stored_copy::StoredCopy;
use crate::stores::Stores;

fn mk<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

fn mk_original(namespace: &str) -> Value {
    json!({
        "metadata": {"name": "csv", "namespace": namespace, "uid": namespace, "annotations": {
            "olm.operatorGroup": "og", "olm.operatorNamespace": namespace,
            "olm.targetNamespaces": "",
        }},
        "spec": {"displayName": "d"},
        "status": {"phase": "Succeeded", "reason": "InstallSucceeded"},
    })
}

/// The copy of the original in `from` as it would be in `namespace`.
fn mk_copy(from: &str, namespace: &str) -> Value {
    json!({
        "metadata": {
            "name": "csv", "namespace": namespace, "uid": format!("{from}-{namespace}"),
            "labels": {"olm.copiedFrom": from},
            "annotations": {"olm.operatorGroup": "og", "olm.operatorNamespace": from},
        },
        "spec": {"displayName": "d"},
        "status": {
            "phase": "Succeeded", "reason": "Copied",
            "message": format!("The operator is running in {from} but is managing this namespace"),
        },
    })
}

/// An operator in `op` that watches all namespaces, `a`, `b` and `going` among them.
fn mk_stores(originals: &[Value], copies: &[Value]) -> Stores {
    let namespace = |name: &str| mk(json!({"metadata": {"name": name}}));
    let going = mk(json!({
        "metadata": {"name": "going", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    }));
    let group = json!({
        "metadata": {"name": "og", "namespace": "op"},
        "status": {"namespaces": [""], "lastUpdated": "2026-01-01T00:00:00Z"},
    });
    Stores {
        csvs: Store::with_objects(originals.iter().cloned().map(mk)),
        copies: Store::with_objects(copies.iter().cloned().map(mk::<StoredCopy>)),
        groups: Store::with_objects([mk(group)]),
        namespaces: Store::with_objects([namespace("a"), namespace("b"), namespace("op"), going]),
        ..Stores::default()
    }
}

/// What is due, as `namespace` or `namespace!` when the copy is out of step, and what goes.
fn judge(stores: &Stores, key: &CopyKey) -> (Vec<String>, Vec<String>) {
    let observed = observe(stores, &Default::default(), key);
    let whole: ClusterServiceVersion = mk(mk_original("op"));
    let (going, dues) = due(key, &observed, Some(Prototype::of(&whole).fingerprint()));
    let dues = dues
        .iter()
        .map(|due| format!("{}{}", due.namespace(), if due.lack.is_some() { "!" } else { "" }));
    let deletions = going.iter().flat_map(|place| deletions(stores, place));
    (dues.collect(), deletions.map(|effect| effect.target.to_string()).collect())
}

fn all() -> CopyKey {
    CopyKey::all(ObjectKey::namespaced("op", "csv"))
}

#[rstest]
#[case::none(&[], &["a!", "b!"])]
#[case::one_in_step(&[mk_copy("op", "a")], &["a", "b!"])]
#[case::another_operators_copy_stays(&[mk_copy("other", "a")], &["b!"])]
fn copies_are_due(#[case] copies: &[Value], #[case] expected: &[&str]) {
    let stores = mk_stores(&[mk_original("op")], copies);
    let (dues, deletions) = judge(&stores, &all());
    assert_eq!(dues, expected);
    assert_eq!(deletions, Vec::<String>::new());
}

#[test]
fn a_changed_copy_is_out_of_step() {
    let mut copy = mk_copy("op", "a");
    copy["spec"]["displayName"] = json!("changed by hand");
    let stores = mk_stores(&[mk_original("op")], &[copy, mk_copy("op", "b")]);
    assert_eq!(judge(&stores, &all()).0, ["a!", "b"]);
}

#[test]
fn a_csv_of_the_same_name_is_not_overwritten() {
    let stores = mk_stores(&[mk_original("op"), mk_original("a")], &[]);
    assert_eq!(judge(&stores, &all()).0, ["b!"]);
}

#[test]
fn one_namespace_is_looked_at_alone() {
    let stores = mk_stores(&[mk_original("op")], &[]);
    let key = CopyKey::one(ObjectKey::namespaced("op", "csv"), "b");
    assert_eq!(judge(&stores, &key).0, ["b!"]);
}

#[test]
fn copies_go_with_their_original_and_others_stay() {
    let stores = mk_stores(&[], &[mk_copy("op", "a"), mk_copy("other", "b")]);
    let (dues, deletions) = judge(&stores, &all());
    assert_eq!(dues, Vec::<String>::new());
    assert_eq!(deletions, ["ClusterServiceVersion a/csv"]);
}

#[test]
fn a_copy_that_hides_its_operator_goes() {
    let mut copy = mk_copy("op", "a");
    copy["metadata"]["annotations"] = json!({});
    let stores = mk_stores(&[mk_original("op")], &[copy, mk_copy("op", "b")]);
    let (dues, deletions) = judge(&stores, &all());
    assert_eq!((dues, deletions.len()), (vec!["b".to_owned()], 1));
}

#[test]
fn what_is_kept_of_a_copy_is_small() {
    assert!(
        2 * size_of::<usize>() + size_of::<StoredCopy>() <= 64,
        "counters of an Arc, and the record"
    );
}

/// They are made by a look that ends after the one that took the copy away.
#[rstest]
#[case::of_a_copy_that_is_gone(&[], "op", &["RoleBinding a/b", "Role a/r"])]
#[case::of_a_copy_that_is_there(&[mk_copy("op", "a")], "op", &["ClusterServiceVersion a/csv"])]
#[case::of_another_original(&[], "other", &[])]
fn rights_that_come_late_go(
    #[case] copies: &[Value],
    #[case] from: &str,
    #[case] expected: &[&str],
) {
    let mut stores = mk_stores(&[], copies);
    let metadata = |name: &str| {
        json!({"name": name, "namespace": "a", "labels": {
            "olm.owner": "csv", "olm.owner.namespace": "a",
            "olm.owner.kind": "ClusterServiceVersion", "olm.copiedFrom": from,
        }})
    };
    let mine = json!({"metadata": {"name": "mine", "namespace": "a"}});
    stores.roles = Store::with_objects([mk(json!({"metadata": metadata("r")})), mk(mine)]);
    let role_ref = json!({"apiGroup": "", "kind": "Role", "name": "r"});
    let binding = json!({"metadata": metadata("b"), "roleRef": role_ref});
    stores.role_bindings = Store::with_objects([mk(binding)]);
    let key = CopyKey::one(ObjectKey::namespaced("op", "csv"), "a");
    assert_eq!(judge(&stores, &key).1, expected);
}

#[test]
fn rights_go_before_the_copy_that_owns_them() {
    let mut stores = mk_stores(&[], &[mk_copy("op", "a")]);
    let owned = |name: &str, uid: &str| {
        json!({"name": name, "namespace": "a", "ownerReferences": [
            {"apiVersion": "v1", "kind": "ClusterServiceVersion", "name": "csv", "uid": uid},
        ]})
    };
    let role = |name: &str, uid: &str| mk(json!({"metadata": owned(name, uid)}));
    stores.roles = Store::with_objects([role("r", "op-a"), role("mine", "other")]);
    let binding = json!({
        "metadata": owned("b", "op-a"),
        "roleRef": {"apiGroup": "", "kind": "Role", "name": "r"},
    });
    stores.role_bindings = Store::with_objects([mk(binding)]);
    let expected = ["RoleBinding a/b", "Role a/r", "ClusterServiceVersion a/csv"];
    assert_eq!(judge(&stores, &all()).1, expected);
}
