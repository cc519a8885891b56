//! The register of v0's quirks (spec olm-operator 10), one by one: K is kept, F fixed, D decided.
//!
//! | # | | shown by |
//! |---|---|---|
//! | 1 | F | `scenarios` requirements_are_fresh_while_the_phase_stays |
//! | 2 | K | `scenarios` edits_of_a_live_deployment_stay_until_the_next_install |
//! | 3 | K | `scenarios` a_new_annotation_is_rolled_out |
//! | 4 | F | `transitions` a_required_api_service_is_waited_for; scenario `servers::a_required_api` |
//! | 5 | F | `csv/requirements/tests.rs` permissions: one entry for both kinds of rights |
//! | 6 | D woken by index | olm-operator `triggers/tests.rs` wakes; scenario `lifecycle::missing_kinds` |
//! | 7 | F | `transitions` a_rule_of_both_kinds…, `scenarios` another_strategy…, `groups` without_a_group… |
//! | 8 | F | here: waiting_makes_no_haste |
//! | 9 | F | scenario `side_by_side::no_foreign_writes` |
//! | 10 | D done | `servers` an_api_that_is_away_while_pods_are_replaced_is_no_failure |
//! | 11 | F | `operator_group/tests/accounts.rs` a_missing_account_is_reported_until_it_is_there; `accounts` |
//! | 12 | F | `scenarios` a_forbidden_install_waits_for_a_change; olm-operator `triggers/tests.rs` |
//! | 13 | F | olm-operator `triggers/tests.rs` labels_of_a_namespace_wake_groups_with_a_selector |
//! | 14 | F | olm-operator `triggers/tests.rs` a_group_wakes_the_namespaces_that_it_gains_or_loses |
//! | 15 | D stricter | `webhook/tests.rs` rules_are_guarded |
//! | 16 | D only that part | `install/overrides/tests.rs` affinities |
//! | 17 | F | olm-rbac `api_roles.rs` the_definition_owns_the_roles |
//! | 18 | F | scenario `servers::are_called_and_removed` |
//! | 19 | F | `certificates/names.rs` a_service_has_no_dots |
//! | 20 | K | olm-types `hash/tests.rs` exactly_63_without_dash |
//! | 21 | D as v0 | olm-rbac `grants/tests.rs` role_of_another_csv; `transitions` a_second_owner_of_a_crd… |
//! | 22 | F | here: a_webhook_that_may_not_go_goes_later |
//! | 23 | F | `groups` a_static_group_is_not_touched |
//! | 24 | F | `copied_csv/tests.rs` a_protected_home_needs_no_copy |
//! | 25 | F | `operator_condition/tests.rs` its_accounts_may_write_it_and_nothing_is_written_twice |
//! | 26 | K | here: cleanup_of_the_spec_changes_nothing |
//! | 27 | K | here: a_blocked_replacement_is_made_way_for |
//! | 28 | K | `replacement` a_failed_predecessor_holds_an_install_up; scenario `lifecycle::predecessors` |
//! | 29 | F | `operator_group/tests.rs` targets_reach_the_status; `csv/requirements/permissions.rs` |
//! | 30 | D `--leader-elect` | scenario `replicas::take_over` |
//! | 31 | F | `deletion` the_finalizer_is_added_first_and_keeps_others; here: no_write_meets_its_own |
//! | 32 | D as v0 | `operator_group/tests/accounts.rs` a_missing_account_is_reported_until_it_is_there |
//! | 33 | F | `webhook/tests.rs` definitions_stop_calling_what_goes; scenario `servers::conversion` |
//! | 34 | D woken by index | as 6; scenario `lifecycle::missing_rights` |

use olm_effect::Refusal;
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::*;
use super::servers;
use super::world::World;

fn replacing(mut csv: Value, replaced: &str) -> Value {
    csv["spec"]["replaces"] = json!(replaced);
    csv
}

/// Quirk 8: v0 looks again at once. Here what ends the wait is an event, or the timeout of
/// installs.
#[rstest]
#[case::installing("Installing", Some(300))]
#[case::replacing("Replacing", None)]
fn waiting_makes_no_haste(#[case] phase: &str, #[case] again: Option<u64>) {
    let mut world = World::new();
    let csv = mk_csv_in("old", phase, "InstallWaiting");
    put_installed(&mut world, csv);
    world.set_available("old-dep", "False", "boom");
    world.put(replacing(mk_csv_in("new", "Pending", "RequirementsUnknown"), "old"));
    let decision = world.sync("old");
    let due = decision.requeue_at.map(|at| at.duration_since(world.now).as_secs());
    assert_eq!(due, again.map(|seconds| i64::try_from(seconds).unwrap()));
    let converged = world.get("ClusterServiceVersion", "old").unwrap().clone();
    world.sync("old");
    assert_eq!(world.get("ClusterServiceVersion", "old"), Some(&converged), "nothing is written");
}

/// Quirk 22: v0 forgets why a configuration that nothing describes could not be deleted.
#[test]
fn a_webhook_that_may_not_go_goes_later() {
    let mut world = servers::installed();
    world.edit("ClusterServiceVersion", "csv", |csv| csv["spec"]["webhookdefinitions"] = json!([]));
    let text = || "try again".to_owned();
    let refusal = Refusal { code: 503, reason: "ServiceUnavailable".to_owned(), message: text() };
    world.refuse = Some(("ValidatingWebhookConfiguration", refusal));
    world.next("csv");
    assert_eq!(world.every("ValidatingWebhookConfiguration").len(), 1);
    world.refuse = None;
    world.next("csv");
    assert!(world.every("ValidatingWebhookConfiguration").is_empty());
}

/// Quirk 26: `spec.cleanup` is in the API, and is never read.
#[rstest]
fn cleanup_of_the_spec_changes_nothing(#[values(false, true)] enabled: bool) {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    csv["spec"]["cleanup"] = json!({"enabled": enabled});
    put_installed(&mut world, csv);
    assert!(world.next("csv").starts_with("Succeeded/"));
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    world.sync("csv");
    let csv = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(csv["metadata"]["finalizers"], json!([]));
    assert_eq!(csv["status"]["cleanup"].get("pendingDeletion"), None);
}

/// Quirk 27: the old version is Replacing at once, whatever holds the new one up.
#[test]
fn a_blocked_replacement_is_made_way_for() {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("old", "Succeeded", "InstallSucceeded"));
    let mut new = replacing(mk_csv_in("new", "Pending", "RequirementsUnknown"), "old");
    require(&mut new, &["missing.g"]);
    world.put(new);
    assert!(world.next("new").starts_with("Pending/RequirementsNotMet"));
    assert_eq!(world.next("old"), "Replacing/BeingReplaced being replaced by csv: new");
    assert_eq!(world.next("old"), "Replacing/BeingReplaced being replaced by csv: new");
    assert!(world.get("Deployment", "old-dep").is_some(), "it goes on running");
}

/// Quirk 31: in v0 the first status write conflicts with that of the finalizer.
#[test]
fn no_write_meets_its_own() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["finalizers"] = json!([]);
    world.put(csv);
    for _ in 0..6 {
        world.sleep(1);
        let outcomes = world.sync_outcomes("csv");
        assert!(outcomes.iter().all(|one| one.refusal().is_none()), "{outcomes:?}");
        if world.get("Deployment", "csv-dep").is_some() {
            world.set_available("csv-dep", "True", "");
        }
    }
    assert!(world.state("csv").starts_with("Succeeded/"), "{}", world.state("csv"));
}
