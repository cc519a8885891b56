//! Catalogs whose image is looked at again and again.

use super::super::super::is_healthy;
use super::world::{NOW, World, polled};
use serde_json::json;

#[test]
fn a_new_image_under_the_same_name_takes_over() {
    let mut world = polled();
    let writes = world.writes();
    assert!(writes.contains(&"create Pod ".to_owned()), "{writes:?}");
    world.now = NOW.parse().unwrap();
    world.look();
    let [live, update] = [4, 5].map(|number| format!("img-catalog-{number}"));
    world.runs(&live, "r@sha256:old");
    let expected = [format!("{live} img-catalog/"), format!("{update} /img-catalog")];
    assert_eq!(world.pods(), expected, "the first look is due twelve hours after the creation");
    assert_eq!(world.look().1.next, Some(std::time::Duration::from_secs(30)));
    world.runs(&update, "r@sha256:new");
    assert_eq!(world.writes(), [format!("apply Pod {update}"), format!("delete Pod {live}")]);
    assert_eq!(world.pods(), [format!("{update} img-catalog/")]);
    assert!(world.writes().is_empty());
    assert_eq!(world.status().latest_image_registry_poll.unwrap().0, NOW.parse().unwrap());
}

#[test]
fn the_same_image_is_looked_at_again_after_the_interval() {
    let mut world = polled();
    world.look();
    world.runs("img-catalog-4", "r@sha256:same");
    world.runs("img-catalog-5", "r@sha256:same");
    assert_eq!(world.writes(), ["delete Pod img-catalog-5"]);
    world.wait(9);
    assert!(world.writes().is_empty());
    world.wait(2);
    assert_eq!(world.writes(), ["create Pod "]);
}

#[test]
fn a_look_that_failed_is_reported_until_the_next() {
    let mut world = polled();
    world.look();
    world.runs("img-catalog-4", "r@sha256:old");
    world.change("Pod", "img-catalog-5", json!({"status": {"phase": "Failed"}}));
    assert_eq!(world.writes(), ["delete Pod img-catalog-5"]);
    let reported = |world: &World| -> Vec<String> {
        world
            .status()
            .conditions
            .iter()
            .map(|one| format!("{} {}", one.type_, one.message))
            .collect()
    };
    let expected = "ImagePolled update pod img-catalog-5 in a Failed state: deleted update pod";
    assert_eq!(reported(&world), [expected]);
    world.look();
    assert_eq!(reported(&world), [expected]);
    assert!(is_healthy(&world.observed.catalog));
    world.wait(11);
    world.look();
    assert!(reported(&world).is_empty());
}

#[test]
fn a_digest_spares_the_pod() {
    let mut world = polled();
    world.look();
    world.runs("img-catalog-4", "r@sha256:same");
    world.runs("img-catalog-5", "r@sha256:same");
    world.look();
    world.wait(11);
    world.observed.digest = Some(Ok("sha256:same".to_owned()));
    assert!(world.writes().is_empty());
    assert_eq!(world.status().latest_image_registry_poll.unwrap().0, world.now);
    world.wait(11);
    world.observed.digest = Some(Ok("sha256:new".to_owned()));
    assert_eq!(world.writes(), ["create Pod "]);
}

#[test]
fn a_malformed_interval_is_reported() {
    let mut world = polled();
    world.set_spec(json!({"updateStrategy": {"registryPoll": {"interval": "soon"}}}));
    world.look();
    let status = world.status();
    assert_eq!(status.reason.as_deref(), Some("InvalidIntervalError"));
    assert!(status.message.unwrap().ends_with("Error: time: invalid duration \"soon\""));
    assert!(is_healthy(&world.observed.catalog));
}
