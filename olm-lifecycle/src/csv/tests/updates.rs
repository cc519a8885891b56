//! Spec olm-operator 8.4: A is replaced by B, B by C, all created at once. The order in which
//! they are looked at does not matter, nor does the length of the chain.

use super::fixtures::*;
use super::world::World;
use proptest::prelude::*;
use proptest::sample::Index;
use rstest::rstest;
use serde_json::json;

fn mk_chain(names: &[&str]) -> World {
    let mut world = World::new();
    for (index, name) in names.iter().enumerate() {
        let replaces = index.checked_sub(1).map(|before| names[before]);
        let mut csv = mk_csv(name);
        csv["spec"]["replaces"] = json!(replaces);
        csv["spec"]["install"]["spec"]["deployments"][0]["name"] = json!("shared");
        csv["spec"]["install"]["spec"]["deployments"][0]["label"] = json!({"of": name});
        world.put(csv);
    }
    world
}

/// What must hold of the chain at every moment, by the phase of one of its links.
fn check(world: &World) {
    let (a, b, c) = (world.phase("a"), world.phase("b"), world.phase("c"));
    let active = [&a, &b, &c].into_iter().filter(|phase| *phase == "Succeeded").count();
    assert!(active <= 1, "{a} {b} {c}");
    if ["InstallReady", "Installing"].contains(&b.as_str()) {
        assert_eq!((a.as_str(), c.as_str()), ("Replacing", "Pending"), "b is {b}");
    }
    if b == "Succeeded" {
        assert!(["Replacing", "Deleting", "gone"].contains(&a.as_str()), "{a}");
        assert!(["", "Pending"].contains(&c.as_str()), "{c}");
    }
    if ["InstallReady", "Installing"].contains(&c.as_str()) {
        assert!(["Deleting", "gone"].contains(&a.as_str()), "c is {c}, a is {a}");
        assert_eq!(b, "Replacing", "c is {c}");
    }
    if ["Pending", "InstallReady", "Installing", "Succeeded"].contains(&a.as_str()) {
        assert!(["", "Pending"].contains(&b.as_str()), "a is {a}, b is {b}");
    }
}

#[rstest]
#[case(["a", "b", "c"])]
#[case(["a", "c", "b"])]
#[case(["b", "a", "c"])]
#[case(["b", "c", "a"])]
#[case(["c", "a", "b"])]
#[case(["c", "b", "a"])]
fn the_last_version_is_reached_in_any_order(#[case] order: [&str; 3]) {
    let mut world = mk_chain(&["a", "b", "c"]);
    for _ in 0..30 {
        for name in order {
            if world.phase(name) == "gone" {
                continue;
            }
            world.next(name);
            check(&world);
            if world.get("Deployment", "shared").is_some() {
                world.set_available("shared", "True", "");
            }
        }
    }
    assert_eq!(["a", "b", "c"].map(|name| world.phase(name)), ["gone", "gone", "Succeeded"]);
    let deployment = world.get("Deployment", "shared").unwrap();
    assert_eq!(deployment["metadata"]["labels"]["olm.owner"], json!("c"));
    assert_eq!(deployment["metadata"]["labels"]["of"], json!("c"));
    let converged = world.get("ClusterServiceVersion", "c").unwrap().clone();
    world.next("c");
    assert_eq!(world.get("ClusterServiceVersion", "c"), Some(&converged), "nothing is written");
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Looks at a CSV, and lets its Deployment run.
fn look_at(world: &mut World, name: &str) {
    if world.phase(name) == "gone" {
        return;
    }
    world.sync(name);
    if world.get("Deployment", "shared").is_some() {
        world.set_available("shared", "True", "");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    #[test]
    fn a_chain_of_any_length_ends_however_it_is_woken(
        length in 1..=NAMES.len(),
        schedule in proptest::collection::vec(any::<Index>(), 0..60),
    ) {
        let names = &NAMES[..length];
        let mut world = mk_chain(names);
        let round_robin = (0..length * length * 12).map(|turn| turn % length);
        let turns = schedule.iter().map(|index| index.index(length)).chain(round_robin);
        for turn in turns {
            look_at(&mut world, names[turn]);
            let phases: Vec<String> = names.iter().map(|name| world.phase(name)).collect();
            let active = phases.iter().filter(|phase| *phase == "Succeeded").count();
            prop_assert!(active <= 1, "{phases:?}");
            let (last, others) = phases.split_last().unwrap();
            if last == "Succeeded" && others.iter().all(|other| other == "gone") {
                return Ok(());
            }
        }
        let states: Vec<String> = names.iter().map(|name| world.state(name)).collect();
        prop_assert!(false, "the chain did not end: {states:?}");
    }
}
