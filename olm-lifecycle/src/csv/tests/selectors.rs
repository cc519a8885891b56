//! Deployments whose selector another version changes.

use serde_json::{Value, json};

use super::fixtures::*;
use super::world::World;

/// Version `b` of an operator, ready to be installed, with another selector for the Deployment of
/// version `a`, which it replaces.
fn mk_upgrade() -> World {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("a", "Replacing", "BeingReplaced"));
    let mut csv = mk_csv_in("b", "InstallReady", "AllRequirementsMet");
    csv["spec"]["replaces"] = json!("a");
    let entry = &mut csv["spec"]["install"]["spec"]["deployments"][0];
    entry["name"] = json!("a-dep");
    entry["spec"]["selector"] = json!({"matchLabels": {"app": "b"}});
    entry["spec"]["template"]["metadata"]["labels"] = json!({"app": "b"});
    world.put(csv);
    world
}

fn refused(world: &mut World) -> bool {
    let expected = "Failed/InstallComponentFailed install strategy failed: Deployment.apps \
                    \"a-dep\" is invalid: spec.selector: Invalid value: ";
    world.next("b").starts_with(expected)
}

#[test]
fn the_deployment_is_made_anew() {
    let mut world = mk_upgrade();
    assert!(world.next("b").starts_with("InstallReady/"), "{}", world.state("b"));
    assert_eq!(world.get("Deployment", "a-dep"), None);
    let reported =
        "DeploymentRecreated: Deployment a-dep was deleted, its pods first, and is made anew: ";
    assert!(
        world.events.last().is_some_and(|event| event.starts_with(reported)),
        "{:?}",
        world.events
    );
    assert!(world.next("b").starts_with("Installing/InstallSucceeded"));
    let made = world.get("Deployment", "a-dep").unwrap();
    assert_eq!(made["spec"]["selector"], json!({"matchLabels": {"app": "b"}}));
    world.set_available("a-dep", "True", "");
    assert!(world.next("b").starts_with("Succeeded/"));
}

#[test]
fn one_that_is_on_its_way_out_is_waited_for() {
    let mut world = mk_upgrade();
    world.edit("Deployment", "a-dep", |deployment| {
        deployment["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    assert!(world.next("b").starts_with("InstallReady/"));
    assert!(world.get("Deployment", "a-dep").is_some());
}

#[test]
fn one_of_another_owner_stays() {
    let owners: [fn(&mut Value); 3] = [
        |labels| *labels = json!({}),
        |labels| labels["olm.owner.namespace"] = json!("elsewhere"),
        |labels| labels["olm.owner"] = json!("neighbour"),
    ];
    for change in owners {
        let mut world = mk_upgrade();
        world.put(mk_csv_in("neighbour", "Succeeded", "InstallSucceeded"));
        world.edit("Deployment", "a-dep", |found| change(&mut found["metadata"]["labels"]));
        assert!(refused(&mut world), "{}", world.state("b"));
        assert!(world.get("Deployment", "a-dep").is_some());
    }
}

/// Were the new one refused for another reason, too, the operator would be gone and not come back.
#[test]
fn nothing_goes_for_one_that_is_refused_anyway() {
    let mut world = mk_upgrade();
    let message = "Deployment.apps \"a-dep\" is invalid: [spec.replicas: Invalid value: -1, \
                   spec.selector: Invalid value: {}: field is immutable]";
    let refusal = olm_effect::Refusal {
        code: 422,
        reason: "Invalid".to_owned(),
        message: message.to_owned(),
    };
    world.refuse = Some(("Deployment", refusal));
    let expected = format!("Failed/InstallComponentFailed install strategy failed: {message}");
    assert_eq!(world.next("b"), expected);
}
