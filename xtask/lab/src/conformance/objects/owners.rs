//! Whether owner references name whom they mean.
//!
//! The garbage collector goes by the unique id and looks it up under kind, name and namespace: a
//! reference in which these are not those of one object has the object collected, or never.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The field of a reference that says what is wrong with it. No object of v0 has it.
pub(super) const WRONG: &str = "<not the owner>";

/// Marks every reference that does not name one of the objects. `kinds` are those of which all objects
/// are there; of owners of other kinds nothing is known.
pub(super) fn mark_wrong(objects: &mut [Value], kinds: &BTreeSet<String>) {
    let known: BTreeMap<String, [String; 4]> =
        objects.iter().map(|object| (text(object, "/metadata/uid"), identity(object))).collect();
    for object in objects {
        let namespace = text(object, "/metadata/namespace");
        let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten() {
            if let Some(wrong) = wrong(owner, &namespace, &known, kinds) {
                owner[WRONG] = Value::String(wrong);
            }
        }
    }
}

fn wrong(
    owner: &Value,
    namespace: &str,
    known: &BTreeMap<String, [String; 4]>,
    kinds: &BTreeSet<String>,
) -> Option<String> {
    let said = ["/apiVersion", "/kind", "/name"].map(|field| text(owner, field));
    let Some([version, kind, name, home]) = known.get(&text(owner, "/uid")) else {
        return kinds.contains(&said[1]).then(|| "no such object is there".to_owned());
    };
    if said != [version, kind, name].map(String::as_str) {
        return Some(format!("the id is that of {version} {kind} {name}"));
    }
    let reached = home.is_empty() || home == namespace;
    (!reached).then(|| format!("the owner is in namespace {home}"))
}

/// `apiVersion`, kind, name and namespace.
fn identity(object: &Value) -> [String; 4] {
    ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"]
        .map(|field| text(object, field))
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::right(json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"}), None)]
    #[case::of_the_cluster(json!({"apiVersion": "v1", "kind": "C", "name": "c", "uid": "3"}), None)]
    #[case::another_name(
        json!({"apiVersion": "v1", "kind": "A", "name": "b", "uid": "1"}),
        Some("the id is that of v1 A a"),
    )]
    #[case::another_spelling(
        json!({"apiVersion": "v1", "kind": "a", "name": "a", "uid": "1"}),
        Some("the id is that of v1 A a"),
    )]
    #[case::its_copy(
        json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "2"}),
        Some("the owner is in namespace other"),
    )]
    #[case::gone(
        json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "9"}),
        Some("no such object is there"),
    )]
    #[case::of_no_compared_kind(json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": "9"}), None)]
    fn a_reference_names_one_object(#[case] owner: Value, #[case] expected: Option<&str>) {
        let object = |kind: &str, name: &str, home: &str, uid: &str, owners: &[Value]| {
            json!({"apiVersion": "v1", "kind": kind, "metadata": {
                "name": name, "namespace": home, "uid": uid, "ownerReferences": owners,
            }})
        };
        let mut objects = [
            object("A", "a", "home", "1", &[]),
            object("A", "a", "other", "2", &[]),
            object("C", "c", "", "3", &[]),
            object("Z", "z", "home", "4", &[owner]),
        ];
        mark_wrong(&mut objects, &BTreeSet::from(["A".to_owned(), "C".to_owned()]));
        let said = objects[3].pointer("/metadata/ownerReferences/0").unwrap();
        assert_eq!(said[WRONG].as_str(), expected);
    }
}
