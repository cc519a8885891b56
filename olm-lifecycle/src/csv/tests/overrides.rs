//! What the Subscription asks for reaches the Deployment, and changes roll it (spec olm-operator
//! 3.9). How fields are merged is in `install/overrides/tests.rs`.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

/// A CSV that was installed without any overrides.
fn succeeded() -> World {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("a", "Succeeded", "InstallSucceeded"));
    world
}

#[rstest]
#[case::env(json!({"env": [{"name": "X", "value": "y"}]}))]
#[case::env_from(json!({"envFrom": [{"secretRef": {"name": "s"}}]}))]
#[case::volumes(json!({"volumes": [{"name": "v", "emptyDir": {}}]}))]
#[case::volume_mounts(json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}))]
#[case::tolerations(json!({"tolerations": [{"operator": "Exists"}]}))]
#[case::resources(json!({"resources": {"limits": {"cpu": "1"}}}))]
#[case::node_selector(json!({"nodeSelector": {"disk": "ssd"}}))]
#[case::affinity(json!({"affinity": {"nodeAffinity": {
    "preferredDuringSchedulingIgnoredDuringExecution": [],
}}}))]
#[case::annotations(json!({"annotations": {"x": "y"}}))]
fn a_changed_subscription_rolls_the_deployment(#[case] config: Value) {
    let mut world = succeeded();
    let before = world.get("Deployment", "a-dep").unwrap()["metadata"]["labels"].clone();
    world.config = config;
    let state = world.next("a");
    let expected = "InstallReady/ComponentUnhealthy installing: deployment changed old hash=";
    assert!(state.starts_with(expected), "{state}");
    assert!(world.next("a").starts_with("Installing/"));
    assert_ne!(world.get("Deployment", "a-dep").unwrap()["metadata"]["labels"], before);
    assert!(world.next("a").starts_with("Succeeded/"));
    let converged = world.get("ClusterServiceVersion", "a").unwrap().clone();
    world.next("a");
    assert_eq!(world.get("ClusterServiceVersion", "a"), Some(&converged), "nothing is written");
}

#[rstest]
#[case::nothing(json!({}))]
#[case::the_selector(json!({"selector": {"matchLabels": {"a": "b"}}}))]
#[case::empty_lists(json!({"env": [], "volumes": [], "tolerations": []}))]
fn a_subscription_that_changes_nothing_rolls_nothing(#[case] config: Value) {
    let mut world = succeeded();
    world.config = config;
    assert!(world.next("a").starts_with("Succeeded/"));
}

#[test]
fn the_name_of_the_condition_cannot_be_overridden() {
    let mut world = World::new();
    world.config = json!({"env": [{"name": "OPERATOR_CONDITION_NAME", "value": "other"}]});
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world.next("a");
    let deployment = world.get("Deployment", "a-dep").unwrap();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["env"], json!([{"name": "OPERATOR_CONDITION_NAME", "value": "a"}]));
}

#[test]
fn annotations_of_the_subscription_reach_the_deployment_itself() {
    let mut world = World::new();
    world.config = json!({"annotations": {"x": "y", "olm.operatorGroup": "forged"}});
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world.next("a");
    let deployment = world.get("Deployment", "a-dep").unwrap();
    assert_eq!(deployment["metadata"]["annotations"]["x"], json!("y"));
    let pods = &deployment["spec"]["template"]["metadata"]["annotations"];
    assert_eq!((&pods["x"], &pods["olm.operatorGroup"]), (&json!("y"), &json!("default")));
}
