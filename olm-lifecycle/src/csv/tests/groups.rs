//! OperatorGroups around a CSV: the gates of spec olm-operator 1.4 and the intersection of 4.5.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

#[test]
fn without_a_group_a_csv_fails_and_says_so_once() {
    let mut world = World::new();
    world.remove("OperatorGroup", "default");
    world.put(mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    let expected = "Failed/NoOperatorGroup csv in namespace with no operatorgroups";
    assert_eq!(world.next("csv"), expected);
    let written = world.get("ClusterServiceVersion", "csv").unwrap().clone();
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.get("ClusterServiceVersion", "csv"), Some(&written));
}

#[test]
fn two_groups_are_one_too_many() {
    let mut world = World::new();
    world.put(mk_group("second", json!({}), &[""]));
    world.put(mk_csv("csv"));
    assert_eq!(
        world.next("csv"),
        "Failed/TooManyOperatorGroups csv created in namespace with multiple operatorgroups, can't \
         pick one automatically"
    );
}

#[test]
fn a_new_member_is_annotated_first() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["annotations"] = json!({"mine": "stays"});
    world.put(csv);
    assert_eq!(world.next("csv"), "/ ");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(
        csv["metadata"]["annotations"],
        json!({
            "mine": "stays", "olm.operatorGroup": "default", "olm.operatorNamespace": "ns",
            "olm.targetNamespaces": "ns",
        })
    );
    assert!(world.next("csv").starts_with("Pending/RequirementsUnknown"));
}

#[test]
fn changed_targets_reach_a_succeeded_csv_as_annotation() {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    world.put(mk_group("default", json!({"targetNamespaces": ["ns", "new"]}), &["ns", "new"]));
    assert!(world.next("csv").starts_with("Succeeded/"));
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(csv["metadata"]["annotations"]["olm.targetNamespaces"], json!("new,ns"));
}

#[test]
fn a_group_that_selects_nothing_fails_its_members() {
    let mut world = World::new();
    let selector = json!({"selector": {"matchLabels": {"no": "match"}}});
    world.put(mk_group("default", selector, &[]));
    let mut csv = mk_csv("csv");
    csv["metadata"]["annotations"] = json!({});
    world.put(csv);
    assert_eq!(world.next("csv"), "/ ", "annotations come first");
    assert_eq!(
        world.next("csv"),
        "Failed/NoTargetNamespaces no targetNamespaces are matched operatorgroups namespace selection"
    );
}

#[test]
fn a_group_that_is_not_synced_yet_is_waited_for() {
    let mut world = World::new();
    world.put(mk_group("default", json!({"targetNamespaces": ["ns"]}), &[]));
    let mut csv = mk_csv("csv");
    csv["metadata"]["annotations"] = json!({});
    world.put(csv);
    assert_eq!(world.next("csv"), "/ ");
    assert_eq!(world.events, Vec::<String>::new());
}

#[rstest]
#[case::absent(json!([]), "Failed/UnsupportedOperatorGroup OwnNamespace InstallModeType not \
    supported, cannot configure to watch own namespace")]
#[case::only_unsupported(json!([{"type": "SingleNamespace", "supported": false}]),
    "Failed/UnsupportedOperatorGroup OwnNamespace InstallModeType not supported, cannot configure \
    to watch own namespace")]
#[case::twice(
    json!([{"type": "OwnNamespace", "supported": true}, {"type": "OwnNamespace", "supported": true}]),
    "Failed/InvalidInstallModes InstallMode list contains duplicates, cannot make set: \
    [{OwnNamespace true} {OwnNamespace true}]")]
fn install_modes_must_fit(#[case] modes: Value, #[case] expected: &str) {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    csv["spec"]["installModes"] = modes;
    world.put(csv);
    assert_eq!(world.next("csv"), expected);
}

/// A CSV that owns `c1.g1`, in a group that lists `own`, beside a group that lists `other`.
fn contested(own_apis: &str, other_apis: &str, is_static: bool, csv: Value) -> World {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": own_apis});
        group["spec"]["staticProvidedAPIs"] = json!(is_static);
    });
    let mut other = mk_group("other", json!({"targetNamespaces": ["ns"]}), &["ns"]);
    other["metadata"]["namespace"] = json!("elsewhere");
    other["metadata"]["annotations"] = json!({"olm.providedAPIs": other_apis});
    world.put(other);
    let mut csv = csv;
    own(&mut csv, &["c1.g1"]);
    world.put(mk_crd("c1.g1"));
    world.put(csv);
    world
}

#[test]
fn an_unlisted_api_is_added_to_the_group() {
    let mut world = contested("B.v1.z", "", false, mk_csv("csv"));
    assert_eq!(world.next("csv"), "/ ");
    let group = world.get("OperatorGroup", "default").unwrap();
    assert_eq!(group["metadata"]["annotations"]["olm.providedAPIs"], json!("B.v1.z,K.v1.g1"));
    assert!(world.next("csv").starts_with("Pending/RequirementsUnknown"));
}

#[test]
fn a_contested_api_is_withdrawn_then_refused() {
    let mut world = contested("K.v1.g1", "K.v1.g1", false, mk_csv("csv"));
    assert_eq!(world.next("csv"), "/ ");
    let group = world.get("OperatorGroup", "default").unwrap();
    assert_eq!(group["metadata"]["annotations"]["olm.providedAPIs"], json!(""));
    let expected =
        "Failed/InterOperatorGroupOwnerConflict intersecting operatorgroups provide the same apis";
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.events.len(), 1);
}

#[rstest]
#[case::another_api_with_the_same_start("K.v1.g10", false)]
#[case::among_others("A.v1.a,K.v1.g1,Z.v1.z", true)]
#[case::spaces("A.v1.a, K .v1.g1", true)]
fn only_the_api_itself_is_contested(#[case] other_apis: &str, #[case] contested_by: bool) {
    let mut world = contested("", other_apis, false, mk_csv("csv"));
    let refused = world.next("csv").starts_with("Failed/InterOperatorGroupOwnerConflict");
    assert_eq!(refused, contested_by);
}

#[test]
fn a_refused_csv_loses_its_deployments() {
    let csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    let mut world = contested("", "K.v1.g1", false, csv.clone());
    world.put(serde_json::to_value(mk_installed(&csv)).unwrap());
    assert!(world.next("csv").starts_with("Failed/InterOperatorGroupOwnerConflict"));
    assert_eq!(world.get("Deployment", "csv-dep"), None);
}

#[rstest]
#[case::would_add("", "")]
#[case::would_remove("K.v1.g1", "K.v1.g1")]
fn a_static_group_is_not_touched(#[case] own_apis: &str, #[case] other_apis: &str) {
    let mut world = contested(own_apis, other_apis, true, mk_csv("csv"));
    let expected = "Failed/CannotModifyStaticOperatorGroupProvidedAPIs static provided api \
                    operatorgroup cannot be modified by these apis";
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.next("csv"), expected);
    let group = world.get("OperatorGroup", "default").unwrap();
    assert_eq!(group["metadata"]["annotations"]["olm.providedAPIs"], json!(own_apis));
    assert_eq!(world.events.len(), 1, "said once");
}

#[test]
fn a_static_group_that_lists_the_api_is_fine() {
    let mut world = contested("K.v1.g1", "", true, mk_csv("csv"));
    assert!(world.next("csv").starts_with("Pending/RequirementsUnknown"));
}
