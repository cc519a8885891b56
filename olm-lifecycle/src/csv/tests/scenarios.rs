//! The scenarios of spec olm-operator 8.3 that need neither webhooks nor owned API services.
//! Successive states are passes of one CSV.

use super::fixtures::*;
use super::world::World;
use crate::csv::{Step, conclude, decide};
use olm_effect::{Action, Outcome, Refusal};
use rstest::rstest;
use serde_json::{Value, json};

const WAITING: &str =
    "Installing/InstallSucceeded waiting for install components to report healthy";
const HEALTHY: &str = "Succeeded/InstallSucceeded install strategy completed with no errors";

/// A CSV `a` with Deployment `a-dep`, succeeded.
fn succeeded() -> World {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("a", "Succeeded", "InstallSucceeded"));
    world
}

/// v0 sends it before, and once more when the write meets a conflict.
#[test]
fn an_event_follows_the_status_write_that_it_is_about() {
    let mut world = World::new();
    world.put(mk_csv("a"));
    assert!(world.next("a").starts_with("Pending/RequirementsUnknown"));
    let observed = world.observe("a");
    let Step::Decided(decision) = decide(&observed, world.now) else { panic!("asks first") };
    let outcomes = vec![Outcome::Unchanged; decision.effects.len()];
    let effects = conclude(&observed, &decision, &outcomes, world.now).effects;
    let kinds = effects.iter().map(|effect| match &effect.action {
        Action::Status { .. } => "status",
        Action::Event(_) => "event",
        _ => "another",
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["status", "event"]);
}

#[test]
fn the_happy_path() {
    let mut world = World::new();
    world.put(mk_csv("a"));
    assert!(world.next("a").starts_with("Pending/RequirementsUnknown"));
    assert!(world.next("a").starts_with("InstallReady/AllRequirementsMet"));
    let requirements =
        &world.get("ClusterServiceVersion", "a").unwrap()["status"]["requirementStatus"];
    assert_eq!(requirements.as_array().unwrap().len(), 1);
    assert_eq!(world.next("a"), WAITING);
    assert_eq!(
        world.next("a"),
        "Installing/InstallWaiting installing: waiting for deployment a-dep to become ready: \
         deployment \"a-dep\" not available: missing condition \"Available\""
    );
    world.set_available("a-dep", "True", "");
    assert_eq!(world.next("a"), HEALTHY);
    assert_eq!(world.events.len(), 5, "one event per change: {:?}", world.events);
    let history = world.get("ClusterServiceVersion", "a").unwrap()["status"]["conditions"].clone();
    let phases: Vec<&str> =
        history.as_array().unwrap().iter().map(|past| past["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["Pending", "InstallReady", "Installing", "Installing", "Succeeded"]);
}

/// A new phase or reason is written at once.
#[test]
fn a_refreshed_status_may_wait() {
    let refreshes = |world: &World| {
        let observed = world.observe("a");
        let Step::Decided(decision) = decide(&observed, world.now) else { panic!("asks first") };
        let outcomes = vec![Outcome::Unchanged; decision.effects.len()];
        conclude(&observed, &decision, &outcomes, world.now).refreshes
    };
    let mut world = World::new();
    world.put(mk_csv("a"));
    for _ in ["Pending", "InstallReady", "Installing/InstallSucceeded", "Installing/InstallWaiting"]
    {
        assert_eq!(refreshes(&world), None);
        world.next("a");
    }
    world.set_available("a-dep", "False", "slow");
    let slow = refreshes(&world);
    assert!(slow.is_some(), "only the message is another");
    world.sleep(1);
    assert_eq!(refreshes(&world), slow, "the time makes no difference");
    world.set_available("a-dep", "False", "slower");
    assert!(refreshes(&world).is_some_and(|slower| Some(slower) != slow));
    world.set_available("a-dep", "True", "");
    assert_eq!(refreshes(&world), None, "Succeeded");
}

#[test]
fn edits_of_a_live_deployment_stay_until_the_next_install() {
    let mut world = succeeded();
    world.edit("Deployment", "a-dep", |deployment| deployment["spec"]["replicas"] = json!(5));
    assert!(world.next("a").starts_with("Succeeded/"));
    assert_eq!(world.get("Deployment", "a-dep").unwrap()["spec"]["replicas"], json!(5));
    world.set_available("a-dep", "False", "boom");
    for _ in 0..4 {
        world.next("a");
    }
    assert_eq!(world.get("Deployment", "a-dep").unwrap()["spec"]["replicas"], json!(1));
}

#[test]
fn a_changed_image_is_rolled_out() {
    let mut world = succeeded();
    world.edit("ClusterServiceVersion", "a", |csv| {
        let deployment = &mut csv["spec"]["install"]["spec"]["deployments"][0];
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = json!("new");
    });
    let state = world.next("a");
    let expected = "InstallReady/ComponentUnhealthy installing: deployment changed old hash=";
    assert!(state.starts_with(expected), "{state}");
    assert_eq!(world.next("a"), WAITING);
    assert_eq!(world.next("a"), HEALTHY);
}

#[test]
fn a_new_annotation_is_rolled_out() {
    let mut world = succeeded();
    world.edit("ClusterServiceVersion", "a", |csv| {
        csv["metadata"]["annotations"]["new"] = json!("x");
    });
    assert_eq!(
        world.next("a"),
        "InstallReady/ComponentUnhealthy installing: annotations on deployment does not contain \
         expected key: new"
    );
    assert_eq!(world.next("a"), WAITING);
    assert_eq!(world.next("a"), HEALTHY);
}

#[rstest]
#[case::unavailable(
    |world: &mut World| world.set_available("a-dep", "False", "boom"),
    "waiting for deployment a-dep to become ready: deployment \"a-dep\" not available: boom")]
#[case::deleted(
    |world: &mut World| world.remove("Deployment", "a-dep"),
    "missing deployment with name=a-dep")]
fn an_unhealthy_operator_is_installed_again(#[case] harm: fn(&mut World), #[case] why: &str) {
    let mut world = succeeded();
    harm(&mut world);
    assert_eq!(world.next("a"), format!("Failed/ComponentUnhealthy installing: {why}"));
    assert_eq!(world.next("a"), format!("Pending/NeedsReinstall installing: {why}"));
    assert!(world.next("a").starts_with("InstallReady/"));
    assert_eq!(world.next("a"), WAITING);
    world.set_available("a-dep", "True", "");
    assert_eq!(world.next("a"), HEALTHY);
}

#[test]
fn an_exceeded_deadline_fails_until_the_deployment_recovers() {
    let mut world = succeeded();
    world.put(mk_csv_in("a", "Installing", "InstallSucceeded"));
    world.edit("Deployment", "a-dep", |deployment| {
        deployment["status"]["conditions"] = json!([
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
        ]);
    });
    let expected = "Failed/InstallCheckFailed install failed: deployment a-dep not ready before \
                    timeout: deployment \"a-dep\" exceeded its progress deadline";
    assert_eq!(world.next("a"), expected);
    assert_eq!(world.next("a"), expected);
    world.set_available("a-dep", "True", "");
    assert_eq!(world.next("a"), HEALTHY);
}

#[test]
fn installing_times_out_after_five_minutes() {
    let mut world = World::new();
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world.next("a");
    world.sleep(298);
    let waiting = world.next("a");
    assert!(waiting.starts_with("Installing/InstallWaiting"), "{waiting}");
    let due = world.sync("a").requeue_at.unwrap();
    assert_eq!(due.duration_since(world.now).as_secs(), 1);
    world.sleep(2);
    assert_eq!(world.next("a"), "Failed/InstallCheckFailed install timeout");
    assert!(world.next("a").starts_with("Pending/NeedsReinstall"));
}

#[test]
fn another_strategy_is_invalid_and_stays_so() {
    let mut world = World::new();
    let mut csv = mk_csv("a");
    csv["spec"]["install"]["strategy"] = json!("helm");
    world.put(csv);
    assert!(world.next("a").starts_with("Pending/RequirementsUnknown"));
    let expected =
        "Failed/InvalidInstallStrategy install strategy invalid: unrecognized install strategy";
    assert_eq!(world.next("a"), expected);
    let written = world.get("ClusterServiceVersion", "a").unwrap().clone();
    assert_eq!(world.next("a"), expected);
    assert_eq!(world.get("ClusterServiceVersion", "a"), Some(&written));
}

#[test]
fn requirements_are_fresh_while_the_phase_stays() {
    let mut world = World::new();
    let mut csv = mk_csv_in("a", "Pending", "RequirementsUnknown");
    require(&mut csv, &["c1.g", "c2.g"]);
    world.put(csv);
    let statuses = |world: &World| -> Vec<String> {
        let csv = world.get("ClusterServiceVersion", "a").unwrap();
        let entries = csv["status"]["requirementStatus"].as_array().unwrap();
        entries.iter().skip(1).map(|entry| entry["status"].as_str().unwrap().to_owned()).collect()
    };
    let unmet = "Pending/RequirementsNotMet one or more requirements couldn't be found";
    assert_eq!(world.next("a"), unmet);
    assert_eq!(statuses(&world), ["NotPresent", "NotPresent"]);
    world.put(mk_crd("c1.g"));
    assert_eq!(world.next("a"), unmet);
    assert_eq!(statuses(&world), ["Present", "NotPresent"]);
    assert_eq!(world.events.len(), 1, "no event for the list alone");
}

#[test]
fn a_removed_crd_fails_a_succeeded_csv() {
    let mut world = succeeded();
    world.edit("ClusterServiceVersion", "a", |csv| require(csv, &["c1.g"]));
    assert_eq!(world.next("a"), "Failed/RequirementsNotMet requirements no longer met");
    assert_eq!(world.next("a"), "Pending/RequirementsNotMet requirements not met");
    assert_eq!(
        world.next("a"),
        "Pending/RequirementsNotMet one or more requirements couldn't be found"
    );
    world.put(mk_crd("c1.g"));
    assert!(world.next("a").starts_with("InstallReady/"));
}

fn refusal(code: u16, message: &str) -> Refusal {
    Refusal { code, reason: "R".to_owned(), message: message.to_owned() }
}

#[test]
fn a_forbidden_install_waits_for_a_change() {
    let mut world = World::new();
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    let message = "deployments.apps \"a-dep\" is forbidden: nope";
    world.refuse = Some(("Deployment", refusal(403, message)));
    let expected = format!(
        "Failed/InstallComponentFailedNoRetry install strategy failed: install strategy failed: {message}"
    );
    assert_eq!(world.next("a"), expected);
    world.sleep(100_000);
    assert_eq!(world.next("a"), expected);
    world.cluster_changed = true;
    let events = world.events.len();
    assert_eq!(world.next("a"), "Pending/DetectedClusterChange Cluster resources changed state");
    assert_eq!(world.events.len(), events, "no event");
}

#[test]
fn a_refused_install_is_tried_again_with_growing_pauses() {
    let mut world = World::new();
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world.refuse = Some(("Deployment", refusal(422, "kaboom")));
    let failed = "Failed/InstallComponentFailed install strategy failed: kaboom";
    assert_eq!(world.next("a"), failed);
    for pause in [1, 4, 16, 64, 256, 600] {
        let due = match world.sync("a").requeue_at {
            Some(due) => due.duration_since(world.now).as_secs(),
            None => panic!("no retry planned, state {}", world.state("a")),
        };
        assert_eq!(due, pause);
        world.sleep(pause - 1);
        assert!(world.next("a").starts_with("Pending/NeedsReinstall"), "after {pause} s");
        assert!(world.next("a").starts_with("InstallReady/"));
        assert_eq!(world.next("a"), failed);
    }
    world.refuse = None;
    world.cluster_changed = true;
    assert!(world.next("a").starts_with("Pending/NeedsReinstall"), "a change ends the pause");
}

#[rstest]
#[case::conflict(409)]
#[case::overload(503)]
#[case::no_answer(0)]
fn a_passing_refusal_changes_no_status(#[case] code: u16) {
    let mut world = World::new();
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world.refuse = Some(("Deployment", refusal(code, "later")));
    assert_eq!(world.next("a"), "InstallReady/AllRequirementsMet m");
    world.refuse = None;
    assert_eq!(world.next("a"), WAITING);
}

#[test]
fn a_foreign_deployment_of_that_name_is_taken_over() {
    let mut world = World::new();
    world.put(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "a-dep", "namespace": NS, "labels": {"mine": "x"}},
        "spec": mk_deployment_spec(),
    }));
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    assert_eq!(world.next("a"), WAITING);
    let labels = &world.get("Deployment", "a-dep").unwrap()["metadata"]["labels"];
    assert_eq!(labels["olm.owner"], json!("a"));
    assert_eq!(labels["mine"], Value::Null);
}

#[test]
fn an_orphan_is_deleted_with_the_next_install() {
    let mut world = succeeded();
    world.edit("ClusterServiceVersion", "a", |csv| {
        csv["spec"]["install"]["spec"]["deployments"][0]["name"] = json!("renamed");
    });
    for _ in 0..4 {
        world.next("a");
    }
    assert_eq!(world.state("a"), WAITING);
    assert!(world.get("Deployment", "renamed").is_some());
    assert_eq!(world.get("Deployment", "a-dep"), None);
}
