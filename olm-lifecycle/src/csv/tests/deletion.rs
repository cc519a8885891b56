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
