//! The finalizer of spec olm-operator 1.9.

use super::fixtures::*;
use super::world::World;
use serde_json::json;

#[test]
fn the_finalizer_is_added_first_and_keeps_others() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["finalizers"] = json!(["someone.else/too"]);
    world.put(csv);
    assert_eq!(world.next("csv"), "/ ");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(
        csv["metadata"]["finalizers"],
        json!(["someone.else/too", "operators.coreos.com/csv-cleanup"])
    );
}

#[test]
fn a_new_csv_gets_the_finalizer_and_the_annotations_of_its_group_in_one_write() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["finalizers"] = json!([]);
    csv["metadata"]["annotations"] = json!({"note": "kept"});
    world.put(csv);
    assert_eq!(world.next("csv"), "/ ");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(csv["metadata"]["finalizers"], json!(["operators.coreos.com/csv-cleanup"]));
    let expected = json!({
        "note": "kept", "olm.operatorGroup": "default", "olm.operatorNamespace": NS, "olm.targetNamespaces": NS,
    });
    assert_eq!(csv["metadata"]["annotations"], expected);
    assert!(world.next("csv").starts_with("Pending/RequirementsUnknown"));
}

/// A CSV of two groups, and one that is malformed.
#[test]
fn what_does_not_join_its_group_gets_the_finalizer_alone() {
    for (groups, owned) in [(2, "things.g"), (1, "things")] {
        let mut world = World::new();
        (1..groups).for_each(|number| world.put(mk_group(&format!("g{number}"), json!({}), &[NS])));
        let mut csv = mk_csv("csv");
        own(&mut csv, &[owned]);
        csv["metadata"]["finalizers"] = json!([]);
        csv["metadata"]["annotations"] = json!({});
        world.put(csv);
        world.next("csv");
        let csv = world.get("ClusterServiceVersion", "csv").unwrap();
        assert_eq!(csv["metadata"]["annotations"], json!({}), "{owned}");
    }
}

#[test]
fn cluster_scoped_objects_go_before_the_finalizer() {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    csv["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    world.put(csv);
    let mk_role = |name: &str, owner: &str| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {
                "olm.owner": owner, "olm.owner.namespace": NS,
                "olm.owner.kind": "ClusterServiceVersion",
            }},
        })
    };
    world.put(mk_role("ours", "csv"));
    world.put(mk_role("theirs", "other"));
    let decision = world.sync("csv");
    assert_eq!(decision.notes, ["waiting to be deleted: ClusterRole ours"]);
    assert_eq!(world.get("ClusterRole", "ours"), None);
    assert!(world.get("ClusterRole", "theirs").is_some());
    world.sync("csv");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(csv["metadata"]["finalizers"], json!([]));
    assert_eq!(world.sync("csv"), crate::csv::Decision::nothing());
}

#[test]
fn a_copy_is_left_alone_until_it_is_deleted() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["annotations"]["olm.operatorNamespace"] = json!("elsewhere");
    world.put(csv.clone());
    assert_eq!(world.sync("csv").effects, []);
    csv["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    world.put(csv);
    world.sync("csv");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(csv["metadata"]["finalizers"], json!([]));
}
