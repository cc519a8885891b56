//! What OpenShift's pages on OperatorGroups and their intersection promise (spec olm-operator 1.4, 4.2,
//! 4.5), sentence by sentence. Where v0's names differ from theirs, v0's hold; docs/differences.md has
//! the row. Selection and membership are in olm-opgroup `tests/groups.rs`, roles in olm-rbac
//! `tests/roles.rs`, groups and copies in `operator_group/tests/sync.rs` and
//! `copied_csv/tests/copies.rs`.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

const CONFLICT: &str = "Failed/InterOperatorGroupOwnerConflict";
const STATIC: &str = "Failed/CannotModifyStaticOperatorGroupProvidedAPIs";

/// A healthy CSV that provides `K.v1.g1`, in a group that lists `own`; a group of another
/// namespace that targets the same one lists `other`.
fn mk_world(own_apis: &str, other_apis: &str, is_static: bool) -> World {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": own_apis});
        group["spec"]["staticProvidedAPIs"] = json!(is_static);
    });
    let mut other = mk_group("other", json!({"targetNamespaces": [NS]}), &[NS]);
    other["metadata"]["namespace"] = json!("elsewhere");
    other["metadata"]["annotations"] = json!({"olm.providedAPIs": other_apis});
    world.put(other);
    world.put(mk_crd("c1.g1"));
    let mut csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    own(&mut csv, &["c1.g1"]);
    put_installed(&mut world, csv);
    world
}

fn listed(world: &World) -> Value {
    world.get("OperatorGroup", "default").unwrap()["metadata"]["annotations"]["olm.providedAPIs"]
        .clone()
}

/// "If true and the CSV's provided APIs are a subset of the Operator group's: continue
/// transitioning."
#[rstest]
fn no_intersection_and_a_subset(#[values(false, true)] is_static: bool) {
    let mut world = mk_world("B.v1.g,K.v1.g1", "C.v1.g", is_static);
    assert!(world.next("csv").starts_with("Succeeded/"));
    assert_eq!(listed(&world), json!("B.v1.g,K.v1.g1"));
}

/// "If true and the CSV's provided APIs are not a subset: if the Operator group is static, clean
/// up any deployments that belong to the CSV, transition the CSV to a failed state …". "If false
/// and … a subset …: if the Operator group is static" says the same.
#[rstest]
#[case::no_intersection_and_no_subset("B.v1.g", "")]
#[case::intersection_and_a_subset("K.v1.g1", "K.v1.g1")]
fn static_groups_are_not_modified(#[case] own_apis: &str, #[case] other_apis: &str) {
    let mut world = mk_world(own_apis, other_apis, true);
    assert!(world.next("csv").starts_with(STATIC));
    assert_eq!(world.get("Deployment", "csv-dep"), None);
    assert_eq!(listed(&world), json!(own_apis));
}

/// "If the Operator group is not static: replace the Operator group's olm.providedAPIs annotation
/// with the union of itself and the CSV's provided APIs."
#[test]
fn the_union_is_listed() {
    let mut world = mk_world("B.v1.g", "", false);
    world.next("csv");
    assert_eq!(listed(&world), json!("B.v1.g,K.v1.g1"));
}

/// "If false and the CSV's provided APIs are not a subset of the Operator group's: clean up any
/// deployments that belong to the CSV, transition the CSV to a failed state with status reason
/// InterOperatorGroupOwnerConflict."
#[rstest]
fn intersection_and_no_subset(#[values(false, true)] is_static: bool) {
    let mut world = mk_world("", "K.v1.g1", is_static);
    assert!(world.next("csv").starts_with(CONFLICT));
    assert_eq!(world.get("Deployment", "csv-dep"), None);
}

/// "If false and … a subset …: if the Operator group is not static: replace the Operator group's
/// olm.providedAPIs annotation with the difference between itself and the CSV's provided APIs."
#[test]
fn the_difference_is_listed() {
    let mut world = mk_world("B.v1.g,K.v1.g1", "K.v1.g1", false);
    world.next("csv");
    assert_eq!(listed(&world), json!("B.v1.g"));
}

/// "When checking intersection rules, an Operator group namespace is always included as part of
/// its selected target namespaces."
#[test]
fn a_groups_namespace_counts_as_its_target() {
    let mut world = mk_world("", "K.v1.g1", false);
    world.put(mk_group("default", json!({"targetNamespaces": ["far"]}), &["far"]));
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["metadata"]["annotations"]["olm.targetNamespaces"] = json!("far");
    });
    assert!(world.next("csv").starts_with(CONFLICT));
}

/// "Failure states caused by Operator groups are non-terminal."
#[rstest]
#[case::conflict(CONFLICT, "", "K.v1.g1", false)]
#[case::of_a_static_group(STATIC, "B.v1.g", "", true)]
fn failures_heal(
    #[case] state: &str,
    #[case] own_apis: &str,
    #[case] other_apis: &str,
    #[case] is_static: bool,
) {
    let mut world = mk_world(own_apis, other_apis, is_static);
    assert!(world.next("csv").starts_with(state));
    world.remove("OperatorGroup", "other");
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": "K.v1.g1"});
    });
    assert!(world.next("csv").starts_with("Pending/"));
}

/// "If more than one OperatorGroup exists in a single namespace, any CSV created in that namespace
/// will transition to a failure state with the reason TooManyOperatorGroups … will transition to
/// pending once the number of OperatorGroups in their namespaces reaches one."
#[test]
fn too_many_groups() {
    let mut world = mk_world("K.v1.g1", "", false);
    world.put(mk_group("second", json!({}), &[""]));
    assert!(world.next("csv").starts_with("Failed/TooManyOperatorGroups"));
    world.remove("OperatorGroup", "second");
    assert!(world.next("csv").starts_with("Pending/"));
}

/// "If a CSV's InstallModes do not support the target namespace selection …, the CSV will
/// transition to a failure state with the reason UnsupportedOperatorGroup … transition to pending
/// once either the OperatorGroup's target namespace selection changes …, or the CSV's InstallModes
/// are modified".
#[rstest]
#[case::the_selection_changes(true)]
#[case::the_modes_change(false)]
fn unsupported_groups(#[case] by_selection: bool) {
    let mut world = mk_world("K.v1.g1", "", false);
    let modes = |mode: &str| json!([{"type": mode, "supported": true}]);
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["spec"]["installModes"] = modes("AllNamespaces");
    });
    assert!(world.next("csv").starts_with("Failed/UnsupportedOperatorGroup"));
    if by_selection {
        world.put(mk_group("default", json!({}), &[""]));
        // The annotation of the targets, then that of the APIs.
        world.next("csv");
        world.next("csv");
    } else {
        world.edit("ClusterServiceVersion", "csv", |csv| {
            csv["spec"]["installModes"] = modes("OwnNamespace");
        });
    }
    assert!(world.next("csv").starts_with("Pending/"));
}

/// "If a CSV's spec omits an entry of InstallModeType, then that type is considered unsupported".
#[test]
fn an_omitted_mode_is_unsupported() {
    let mut world = mk_world("K.v1.g1", "", false);
    world.edit("ClusterServiceVersion", "csv", |csv| csv["spec"]["installModes"] = json!([]));
    assert!(world.next("csv").starts_with("Failed/UnsupportedOperatorGroup"));
}

/// "Member CSVs of an OperatorGroup have the following annotations".
#[test]
fn members_are_annotated() {
    let mut world = mk_world("K.v1.g1", "", false);
    world.edit("ClusterServiceVersion", "csv", |csv| csv["metadata"]["annotations"] = json!({}));
    world.next("csv");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    let expected = json!({
        "olm.operatorGroup": "default", "olm.operatorNamespace": NS, "olm.targetNamespaces": NS,
    });
    assert_eq!(csv["metadata"]["annotations"], expected);
}

/// "This annotation is applied to member Operator's CSV instances and is projected into their
/// deployments."
#[test]
fn targets_are_projected_into_deployments() {
    let mut world = mk_world("K.v1.g1", "", false);
    world.remove("Deployment", "csv-dep");
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["status"]["phase"] = json!("InstallReady");
    });
    world.next("csv");
    let deployment = world.get("Deployment", "csv-dep").unwrap();
    let annotations = &deployment["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["olm.targetNamespaces"], json!(NS));
    assert_eq!(annotations["olm.operatorGroup"], json!("default"));
}

/// "The following RBAC resources are generated … as long as the CSV … is not in a failed state with
/// reason InterOperatorGroupOwnerConflict." What of it is bound to AllNamespaces, v0 does for all.
#[rstest]
#[case::running("K.v1.g1", "", true)]
#[case::in_conflict("", "K.v1.g1", false)]
fn roles_for_apis(#[case] own_apis: &str, #[case] other_apis: &str, #[case] made: bool) {
    let mut world = mk_world(own_apis, other_apis, false);
    world.next("csv");
    world.next("csv");
    assert_eq!(world.get("ClusterRole", "c1.g1-v1-admin").is_some(), made);
}

/// "If its spec.staticProvidedAPIs field is set to true … OLM does not modify the OperatorGroup's
/// olm.providedAPIs annotation"; also not to add what a CSV provides.
#[test]
fn a_static_list_stays() {
    let mut world = mk_world("Alertmanager.v1.monitoring.coreos.com", "", true);
    world.next("csv");
    assert_eq!(listed(&world), json!("Alertmanager.v1.monitoring.coreos.com"));
}
