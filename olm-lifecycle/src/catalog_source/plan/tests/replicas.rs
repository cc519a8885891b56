//! Several replicas of the operator that serve catalogs: to which of them clients are sent.

use serde_json::json;

use super::super::super::hosting::Replica;
use super::process::{by_pod, hosted, replica};
use super::world::World;

#[test]
fn replicas_that_come_and_go_are_followed() {
    let mut world = hosted();
    world.hosting().replicas =
        vec![replica("10.0.0.9", false, false), replica("10.0.0.7", true, true)];
    assert_eq!(world.converge(), ["patch EndpointSlice img-catalog-olm-rs"]);
    let slice = world.get("EndpointSlice", "");
    let shown = |number: usize| {
        let endpoint = &slice["endpoints"][number];
        let ready = |field: &str| endpoint["conditions"][field].as_bool().unwrap();
        (endpoint["addresses"][0].clone(), ready("ready"), ready("serving"), ready("terminating"))
    };
    assert_eq!(shown(0), (json!("10.0.0.7"), false, true, true));
    assert_eq!(shown(1), (json!("10.0.0.9"), false, false, false));
    world.hosting().replicas.reverse();
    assert!(world.converge().is_empty(), "the order does not matter");
}

/// A replica that is ready and could not pull the catalog, or lost it, is none that clients are sent to.
#[test]
fn no_client_is_sent_to_a_replica_that_does_not_serve_the_catalog() {
    let mut world = hosted();
    let lacks = Replica { serves: false, ..replica("10.0.0.9", true, false) };
    world.hosting().replicas.push(lacks);
    assert!(world.converge().is_empty(), "that it is there changes nothing");
    world.hosting().replicas[1].serves = true;
    assert_eq!(world.converge(), ["patch EndpointSlice img-catalog-olm-rs"]);
    let listed = |world: &World| {
        let slice = world.get("EndpointSlice", "");
        let endpoints = slice["endpoints"].as_array().cloned().unwrap_or_default();
        endpoints.iter().map(|one| one["addresses"][0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&world), ["10.0.0.7", "10.0.0.9"]);
    world.hosting().replicas[0].serves = false;
    assert_eq!(world.converge(), ["patch EndpointSlice img-catalog-olm-rs"]);
    assert_eq!(listed(&world), ["10.0.0.9"]);
}

/// The Pod keeps the Service until the operator answers where the EndpointSlice leads.
#[test]
fn a_pod_serves_until_a_replica_does() {
    let mut world = by_pod();
    world.hosting().asked = true;
    world.hosting().replicas[0].serves = false;
    world.pulled("sha256:a");
    world.hosting().replicas[0].ready = false;
    world.hosting().replicas[0].serves = true;
    assert!(world.converge().is_empty(), "clients do not reach what is not ready");
    world.hosting().replicas[0].ready = true;
    world.hosting().replicas[0].serves = false;
    for _ in 0..2 {
        assert!(world.converge().is_empty(), "clients would reach nothing");
        world.seconds(60);
    }
    world.hosting().replicas[0].serves = true;
    assert_eq!(world.writes(), ["create EndpointSlice img-catalog-olm-rs"]);
    assert_eq!(world.writes(), ["patch Service img-catalog", "delete Endpoints img-catalog"]);
}

#[test]
fn addresses_of_another_family_take_another_slice() {
    let mut world = hosted();
    world.hosting().replicas = vec![replica("fd00::7", true, false)];
    let expected =
        ["delete EndpointSlice img-catalog-olm-rs", "create EndpointSlice img-catalog-olm-rs"];
    assert_eq!(world.converge(), expected);
}
