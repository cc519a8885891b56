//! The rows of spec olm-operator 8.1 that need neither webhooks nor owned API services.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

/// A CSV with a CustomResourceDefinition that the group lists already.
fn world_with(mut csv: Value, crds: &[&str], present: &[&str]) -> World {
    let mut world = World::new();
    own(&mut csv, crds);
    let apis: Vec<String> =
        crds.iter().map(|name| format!("K.v1.{}", name.split_once('.').unwrap().1)).collect();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": apis.join(",")});
    });
    present.iter().for_each(|name| world.put(mk_crd(name)));
    world.put(csv);
    world
}

#[rstest]
#[case::none_to_pending(mk_csv("csv"), &["c1.g1"],
    "Pending/RequirementsUnknown requirements not yet checked")]
#[case::pending_crd_missing(mk_csv_in("csv", "Pending", "RequirementsUnknown"), &[],
    "Pending/RequirementsNotMet one or more requirements couldn't be found")]
#[case::pending_to_install_ready(mk_csv_in("csv", "Pending", "RequirementsUnknown"), &["c1.g1"],
    "InstallReady/AllRequirementsMet all requirements found, attempting install")]
#[case::failed_crd_missing(mk_csv_in("csv", "Failed", "InstallCheckFailed"), &[],
    "Pending/RequirementsNotMet requirements not met")]
#[case::failed_deployment_missing(mk_csv_in("csv", "Failed", "InstallCheckFailed"), &["c1.g1"],
    "Pending/NeedsReinstall installing: missing deployment with name=csv-dep")]
#[case::install_ready_to_installing(mk_csv_in("csv", "InstallReady", "AllRequirementsMet"), &[],
    "Installing/InstallSucceeded waiting for install components to report healthy")]
#[case::previously_unsupported(mk_csv_in("csv", "Failed", "UnsupportedOperatorGroup"), &["c1.g1"],
    "Pending/RequirementsUnknown InstallModes now support target namespaces")]
#[case::previously_no_groups(mk_csv_in("csv", "Failed", "NoOperatorGroup"), &["c1.g1"],
    "Pending/RequirementsUnknown InstallModes now support target namespaces")]
#[case::previously_too_many(mk_csv_in("csv", "Failed", "TooManyOperatorGroups"), &["c1.g1"],
    "Pending/RequirementsUnknown InstallModes now support target namespaces")]
#[case::no_targets_before(mk_csv_in("csv", "Failed", "NoTargetNamespaces"), &["c1.g1"],
    "Pending/RequirementsUnknown InstallModes now support target namespaces")]
#[case::conflict_gone(mk_csv_in("csv", "Failed", "InterOperatorGroupOwnerConflict"), &["c1.g1"],
    "Pending/RequirementsUnknown OperatorGroup no longer intersecting with conflicting owner")]
#[case::static_conflict_gone(
    mk_csv_in("csv", "Failed", "CannotModifyStaticOperatorGroupProvidedAPIs"), &["c1.g1"],
    "Pending/RequirementsUnknown static OperatorGroup and intersecting groups now support \
     providedAPIs")]
fn single_csv(#[case] csv: Value, #[case] present: &[&str], #[case] expected: &str) {
    let mut world = world_with(csv, &["c1.g1"], present);
    assert_eq!(world.next("csv"), expected);
}

#[test]
fn a_rule_of_both_kinds_is_an_invalid_strategy_and_stays_one() {
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    csv["spec"]["install"]["spec"]["permissions"] = json!([{"serviceAccountName": "sa", "rules": [
        {"verbs": ["get"], "resources": ["pods"], "nonResourceURLs": ["/osb"]}
    ]}]);
    let mut world = World::new();
    world.put(csv);
    world.put(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}}));
    let expected = "Failed/InvalidInstallStrategy install strategy invalid: rule invalid: rule \
                    cannot apply to both regular resources and non-resource URLs";
    assert_eq!(world.next("csv"), expected);
    let version = world.get("ClusterServiceVersion", "csv").unwrap().clone();
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.get("ClusterServiceVersion", "csv"), Some(&version), "nothing is written");
}

#[test]
fn a_second_owner_of_a_crd_is_refused_and_stays_so() {
    let mut first = mk_csv_in("csv1", "Succeeded", "InstallSucceeded");
    own(&mut first, &["c1.g1"]);
    let second = mk_csv_in("csv2", "Pending", "RequirementsUnknown");
    let mut world = world_with(second, &["c1.g1"], &["c1.g1"]);
    put_installed(&mut world, first);
    let expected = "Failed/OwnerConflict conflicting CRD owner in namespace";
    assert_eq!(world.next("csv2"), expected);
    assert_eq!(listed(&world, "csv2"), [("csv2", "Present"), ("c1.g1", "Present")]);
    assert_eq!(world.next("csv2"), expected);
    assert!(world.next("csv1").starts_with("Succeeded/"), "the first owner goes on");
    world.remove("ClusterServiceVersion", "csv1");
    let recovered = "Pending/NeedsReinstall installing: missing deployment with name=csv2-dep";
    assert_eq!(world.next("csv2"), recovered);
}

/// Names and states in the list of requirements.
fn listed<'a>(world: &'a World, csv: &str) -> Vec<(&'a str, &'a str)> {
    let csv = world.get("ClusterServiceVersion", csv).unwrap();
    let entries = csv["status"]["requirementStatus"].as_array().into_iter().flatten();
    entries.map(|one| (one["name"].as_str().unwrap(), one["status"].as_str().unwrap())).collect()
}

/// What was found on the way to it is recorded by the stage that stops, whichever it is.
#[rstest]
#[case::waiting("Pending", "RequirementsUnknown")]
#[case::refused_before("Failed", "InvalidWebhookDescription")]
fn a_refused_webhook_does_not_hide_what_is_required(#[case] phase: &str, #[case] reason: &str) {
    let mut csv = mk_csv_in("csv", phase, reason);
    csv["spec"]["webhookdefinitions"] = json!([{"generateName": "w"}]);
    let mut world = world_with(csv, &["c1.g1"], &["c1.g1"]);
    let state = world.next("csv");
    assert!(state.starts_with("Failed/InvalidWebhookDescription"), "{state}");
    assert_eq!(listed(&world, "csv"), [("csv", "Present"), ("c1.g1", "Present")]);
    world.remove("CustomResourceDefinition", "c1.g1");
    world.next("csv");
    assert_eq!(listed(&world, "csv")[1], ("c1.g1", "NotPresent"));
}

#[rstest]
#[case::missing(None, None)]
#[case::unavailable(Some("False"), Some("a1.g"))]
#[case::unknown(Some("Unknown"), Some("a1.g"))]
#[case::not_discovered(Some("True"), None)]
fn a_required_api_service_is_waited_for(
    #[case] available: Option<&str>,
    #[case] discovered: Option<&str>,
) {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    let api = json!({"name": "as", "group": "g", "version": "v1", "kind": "A"});
    csv["spec"]["apiservicedefinitions"]["required"] = json!([api]);
    world.put(csv);
    let mk_service = |available: &str| {
        json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.g", "uid": "u"},
            "status": {"conditions": [{"type": "Available", "status": available}]},
        })
    };
    let discovery = json!({"kind": "Served", "metadata": {"name": "A.v1.g"}});
    available.into_iter().for_each(|available| world.put(mk_service(available)));
    discovered.into_iter().for_each(|_| world.put(discovery.clone()));
    let unmet = "Pending/RequirementsNotMet one or more requirements couldn't be found";
    assert_eq!(world.next("csv"), unmet);
    world.put(mk_service("True"));
    world.put(discovery);
    assert!(world.next("csv").starts_with("InstallReady/AllRequirementsMet"));
}

#[test]
fn a_deployment_of_another_owner_is_left_alone() {
    let mut world = World::new();
    let mut extra = serde_json::to_value(mk_installed(&mk_csv("other"))).unwrap();
    extra["metadata"]["labels"] = json!({"app": "extra"});
    world.put(extra.clone());
    put_installed(&mut world, mk_csv_in("csv", "Installing", "InstallSucceeded"));
    assert_eq!(
        world.next("csv"),
        "Succeeded/InstallSucceeded install strategy completed with no errors"
    );
    world.next("csv");
    let left = world.get("Deployment", "other-dep").unwrap();
    assert_eq!(left["spec"], extra["spec"]);
}

#[rstest]
#[case::foreign_hash(
    |deployment: &mut Value| deployment["metadata"]["labels"]["olm.deployment-spec-hash"] = json!("Bad"),
    "InstallReady/InstallWaiting installing: deployment changed old hash=Bad, new hash=")]
#[case::no_hash(
    |deployment: &mut Value| {
        deployment["metadata"]["labels"].as_object_mut().unwrap().remove("olm.deployment-spec-hash");
    },
    "InstallReady/InstallWaiting installing: deployment csv-dep doesn't have a spec hash, update it")]
#[case::no_annotations(
    |deployment: &mut Value| {
        deployment["spec"]["template"]["metadata"]["annotations"] = json!({});
    },
    "InstallReady/InstallWaiting installing: no annotations found on deployment")]
#[case::other_annotation(
    |deployment: &mut Value| {
        deployment["spec"]["template"]["metadata"]["annotations"]["olm.operatorGroup"] = json!("x");
    },
    "InstallReady/InstallWaiting installing: unexpected annotation on deployment. Expected \
     olm.operatorGroup:default, found olm.operatorGroup:x")]
#[case::not_labelled(
    |deployment: &mut Value| deployment["metadata"]["labels"] = json!({}),
    "Installing/InstallWaiting installing: missing deployment with name=csv-dep")]
fn an_installing_csv_looks_at_its_deployment(
    #[case] change: fn(&mut Value),
    #[case] expected: &str,
) {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv", "Installing", "InstallSucceeded"));
    world.edit("Deployment", "csv-dep", change);
    let state = world.next("csv");
    assert!(state.starts_with(expected), "{state}");
}

/// Seconds since the install began, and what becomes of a CSV whose Deployment was deleted.
#[rstest]
#[case::just_created(
    9,
    "Installing/InstallWaiting installing: missing deployment with name=csv-dep"
)]
#[case::deleted(10, "InstallReady/InstallWaiting installing: missing deployment with name=csv-dep")]
fn a_deployment_that_goes_while_it_is_installed(#[case] seconds: i64, #[case] expected: &str) {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv", "Installing", "InstallSucceeded"));
    world.sleep(seconds);
    world.remove("Deployment", "csv-dep");
    world.sync("csv");
    assert_eq!(world.state("csv"), expected);
}

/// Nothing else wakes a CSV whose Deployment is gone.
#[test]
fn a_missing_deployment_is_looked_for_when_the_pause_is_over() {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv", "Installing", "InstallSucceeded"));
    world.remove("Deployment", "csv-dep");
    let begun = world.now;
    let again = world.sync("csv").requeue_at.unwrap();
    assert_eq!(again.duration_since(begun).as_secs(), 10);
}
