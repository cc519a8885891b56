//! Replacement: the rows of spec olm-operator 8.1 about it, 8.2, and the upgradeable gate of 8.3.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

fn replacing(mut csv: Value, replaced: &str) -> Value {
    csv["spec"]["replaces"] = json!(replaced);
    csv
}

#[test]
fn a_succeeded_csv_makes_way() {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv1", "Succeeded", "InstallSucceeded"));
    world.put(replacing(mk_csv("csv2"), "csv1"));
    assert_eq!(world.next("csv1"), "Replacing/BeingReplaced being replaced by csv: csv2");
    assert!(world.next("csv2").starts_with("Pending/RequirementsUnknown"));
}

#[test]
fn a_replaced_csv_is_deleted_after_its_replacement_succeeded() {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    put_installed(&mut world, replacing(mk_csv_in("csv2", "Installing", "X"), "csv1"));
    assert_eq!(world.next("csv1"), "Replacing/BeingReplaced m");
    assert!(world.next("csv2").starts_with("Succeeded/"));
    assert_eq!(
        world.next("csv1"),
        "Deleting/Replaced has been replaced by a newer ClusterServiceVersion that has \
         successfully installed."
    );
    assert_eq!(world.next("csv1"), "gone");
}

/// The garbage collector would take what the plan has not come to yet: it belongs to the old version alone until then.
#[rstest]
#[case::runs("Installing", "csv2", false)]
#[case::brings_another("Installing", "other", true)]
#[case::is_done("Complete", "csv2", true)]
#[case::is_given_up("Failed", "csv2", true)]
#[case::waits_for_approval("RequiresApproval", "csv2", true)]
fn a_replaced_csv_stays_until_the_plan_of_its_replacement_is_done(
    #[case] phase: &str,
    #[case] brings: &str,
    #[case] goes: bool,
) {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    put_installed(&mut world, replacing(mk_csv_in("csv2", "Succeeded", "X"), "csv1"));
    world.put(json!({
        "kind": "InstallPlan", "metadata": {"name": "plan", "namespace": NS},
        "spec": {"clusterServiceVersionNames": ["csv0", brings]}, "status": {"phase": phase},
    }));
    let expected = if goes { "Deleting/Replaced" } else { "Replacing/BeingReplaced m" };
    let found = world.next("csv1");
    assert!(found.starts_with(expected), "{found}");
}

/// The rights of the old version go with it: they are none of the new one's.
#[rstest]
#[case::of_the_old_version("csv1", false)]
#[case::of_the_new_version("csv2", true)]
#[case::of_another("csv0", true)]
fn rights_of_a_replaced_csv_do_not_count(#[case] owner: &str, #[case] enough: bool) {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    let mut csv = replacing(mk_csv_in("csv2", "Pending", "RequirementsUnknown"), "csv1");
    let rules = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]);
    csv["spec"]["install"]["spec"]["clusterPermissions"] =
        json!([{"serviceAccountName": "sa", "rules": rules}]);
    world.put(csv);
    world.put(json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": NS},
    }));
    let metadata = json!({"name": "rights", "labels": {
        "olm.owner": owner, "olm.owner.namespace": NS, "olm.owner.kind": "ClusterServiceVersion",
    }});
    world.put(json!({"kind": "ClusterRole", "metadata": metadata, "rules": rules}));
    world.put(json!({
        "kind": "ClusterRoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "rights"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": NS}],
    }));
    let expected =
        if enough { "InstallReady/AllRequirementsMet" } else { "Pending/RequirementsNotMet" };
    let found = world.next("csv2");
    assert!(found.starts_with(expected), "{found}");
}

/// An older version of the operator wrote the Deployment after the new one did, as happens when the
/// new one was created first. What the older one leaves is installed again.
#[rstest]
#[case::makes_way("Replacing", "InstallReady/")]
#[case::still_at_work("Installing", "Installing/")]
fn a_deployment_that_a_replaced_csv_wrote_last(#[case] old: &str, #[case] expected: &str) {
    let mut world = World::new();
    put_installed(&mut world, mk_csv_in("csv1", old, "X"));
    world.put(replacing(mk_csv_in("csv2", "Installing", "InstallSucceeded"), "csv1"));
    world.edit("ClusterServiceVersion", "csv2", |csv| {
        csv["spec"]["install"]["spec"]["deployments"][0]["name"] = json!("csv1-dep");
    });
    world.sleep(60);
    let found = world.next("csv2");
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn only_the_oldest_link_goes() {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    world.put(replacing(mk_csv_in("csv2", "Replacing", "BeingReplaced"), "csv1"));
    put_installed(&mut world, replacing(mk_csv_in("csv3", "Succeeded", "X"), "csv2"));
    assert_eq!(world.next("csv1"), "Replacing/BeingReplaced m");
    assert_eq!(world.next("csv2"), "Replacing/BeingReplaced m");
    world.remove("ClusterServiceVersion", "csv1");
    assert!(world.next("csv2").starts_with("Deleting/Replaced"));
}

/// However the links are woken, the chain ends: each is seen succeeded by the one before.
#[test]
fn a_middle_link_makes_way_after_the_first_is_gone() {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    put_installed(&mut world, replacing(mk_csv_in("csv2", "Succeeded", "X"), "csv1"));
    world.put(replacing(mk_csv("csv3"), "csv2"));
    assert!(world.next("csv2").starts_with("Succeeded/"));
    assert!(world.next("csv1").starts_with("Deleting/Replaced"));
    assert!(world.next("csv2").starts_with("Succeeded/"));
    assert_eq!(world.next("csv1"), "gone");
    assert!(world.next("csv2").starts_with("Replacing/BeingReplaced"));
}

/// `strategy` of the group, then phase and reason of csv1 and csv2 (which replaces it).
#[rstest]
#[case::enabled(
    "TechPreviewUnsafeFailForward",
    "Replacing/BeingReplaced Fail Forward is enabled, allowing Failed csv to be replaced by csv: csv2"
)]
#[case::disabled("Default", "Pending/RequirementsNotMet requirements not met")]
fn fail_forward(#[case] strategy: &str, #[case] expected: &str) {
    let mut world = World::new();
    let spec = json!({"targetNamespaces": [NS], "upgradeStrategy": strategy});
    world.put(mk_group("default", spec, &[NS]));
    let mut first = mk_csv_in("csv1", "Failed", "ComponentUnhealthy");
    require(&mut first, &["missing.g"]);
    world.put(first);
    world.put(replacing(mk_csv("csv2"), "csv1"));
    assert_eq!(world.next("csv1"), expected);
}

/// csv1 is Replacing and csv2, which replaces it, Failed; csv3 replaces csv2 and is new.
#[rstest]
#[case::enabled(
    "TechPreviewUnsafeFailForward",
    "Replacing/BeingReplaced Fail Forward is enabled, allowing Failed csv to be replaced by csv: csv3"
)]
#[case::disabled("Default", "Pending/RequirementsNotMet requirements not met")]
fn fail_forward_in_a_chain(#[case] strategy: &str, #[case] expected: &str) {
    let mut world = World::new();
    let spec = json!({"targetNamespaces": [NS], "upgradeStrategy": strategy});
    world.put(mk_group("default", spec, &[NS]));
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    let mut second = replacing(mk_csv_in("csv2", "Failed", "ComponentUnhealthy"), "csv1");
    require(&mut second, &["missing.g"]);
    world.put(second);
    let mut third = replacing(mk_csv("csv3"), "csv2");
    third["metadata"]["annotations"] = json!({});
    world.put(third);
    assert_eq!(world.next("csv1"), "Replacing/BeingReplaced m");
    assert_eq!(world.next("csv2"), expected);
    assert_eq!(world.next("csv3"), "/ ", "only annotations are written");
}

#[test]
fn fail_forward_skips_failed_links() {
    let mut world = World::new();
    let spec = json!({
        "targetNamespaces": [NS], "upgradeStrategy": "TechPreviewUnsafeFailForward",
    });
    world.put(mk_group("default", spec, &[NS]));
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    world.put(replacing(mk_csv_in("csv2", "Failed", "ComponentUnhealthy"), "csv1"));
    put_installed(&mut world, replacing(mk_csv_in("csv3", "Succeeded", "X"), "csv2"));
    assert!(world.next("csv2").ends_with("replaced by csv: csv3"));
    assert!(world.next("csv1").starts_with("Deleting/Replaced"), "the last link succeeded");
}

#[rstest]
#[case::enabled("TechPreviewUnsafeFailForward")]
#[case::disabled("Default")]
fn a_csv_that_replaces_itself_stays(#[case] strategy: &str) {
    let mut world = World::new();
    let spec = json!({"targetNamespaces": [NS], "upgradeStrategy": strategy});
    world.put(mk_group("default", spec, &[NS]));
    world.put(replacing(mk_csv_in("csv1", "Replacing", "BeingReplaced"), "csv1"));
    let decision = world.sync("csv1");
    assert_eq!(decision.notes, ["marked as replacement, but no replacement CSV found in cluster"]);
    assert_eq!(world.state("csv1"), "Replacing/BeingReplaced m");
}

#[rstest]
#[case::default("Default")]
#[case::fail_forward("TechPreviewUnsafeFailForward")]
fn a_cycle_of_replacements_ends_no_csv(#[case] strategy: &str) {
    let mut world = World::new();
    let spec = json!({"targetNamespaces": [NS], "upgradeStrategy": strategy});
    world.put(mk_group("default", spec, &[NS]));
    world.put(replacing(mk_csv_in("a", "Replacing", "BeingReplaced"), "b"));
    world.put(replacing(mk_csv_in("b", "Replacing", "BeingReplaced"), "a"));
    for (name, other) in [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")] {
        assert_eq!(
            world.next(name),
            format!(
                "Replacing/BeingReplaced being replaced by csv: {other}; spec.replaces leads in a \
                 circle: {name} replaces {other}, {other} replaces {name}; remove spec.replaces \
                 from one of them"
            )
        );
    }
    assert_eq!(world.events.len(), 2, "said once by each");
}

/// In v0 nothing says why CSVs that replace each other stay Pending.
#[test]
fn a_circle_of_new_csvs_is_reported_until_it_is_cut() {
    let mut world = World::new();
    world.put(replacing(mk_csv("a"), "c"));
    world.put(replacing(mk_csv("b"), "a"));
    world.put(replacing(mk_csv("c"), "b"));
    world.put(replacing(mk_csv("after"), "c"));
    for name in ["a", "b", "c", "after"] {
        assert!(world.next(name).starts_with("Pending/RequirementsUnknown"));
    }
    assert_eq!(
        world.next("a"),
        "Pending/RequirementsNotMet spec.replaces leads in a circle: a replaces c, c replaces b, \
         b replaces a; remove spec.replaces from one of them"
    );
    assert!(world.next("after").starts_with("Pending/RequirementsNotMet spec.replaces leads"));
    let converged = world.get("ClusterServiceVersion", "a").unwrap().clone();
    world.next("a");
    assert_eq!(world.get("ClusterServiceVersion", "a"), Some(&converged), "nothing is written");
    world.edit("ClusterServiceVersion", "a", |csv| csv["spec"]["replaces"] = Value::Null);
    assert!(world.next("a").starts_with("InstallReady/AllRequirementsMet"));
}

#[test]
fn a_missing_predecessor_does_not_hold_an_install_up() {
    let mut world = World::new();
    world.put(replacing(mk_csv_in("csv2", "Pending", "RequirementsUnknown"), "csv1"));
    assert!(world.next("csv2").starts_with("InstallReady/"));
}

#[test]
fn a_failed_predecessor_holds_an_install_up() {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Failed", "ComponentUnhealthy"));
    world.put(replacing(mk_csv_in("csv2", "Pending", "RequirementsUnknown"), "csv1"));
    assert_eq!(world.next("csv2"), "Pending/RequirementsUnknown m");
    assert!(world.next("csv1").starts_with("Pending/NeedsReinstall"));
}

#[rstest]
#[case::none(None, None)]
#[case::false_(Some(json!({"status": [("False", 1, "busy")]})),
    Some("the operator is not upgradeable: busy"))]
#[case::unknown(Some(json!({"status": [("Unknown", 1, "busy")]})), None)]
#[case::stale(Some(json!({"status": [("True", 0, "")]})),
    Some("the operatorcondition status \"Upgradeable\"=\"True\" is outdated"))]
#[case::overridden_true(
    Some(json!({"overrides": [("True", 0, "")], "status": [("False", 1, "busy")]})), None)]
#[case::overridden_unknown(Some(json!({"overrides": [("Unknown", 0, "forced")]})),
    Some("the operator is not upgradeable: forced"))]
#[case::only_reported(Some(json!({"conditions": [("False", 1, "busy")]})), None)]
fn the_replaced_operator_may_refuse(
    #[case] condition: Option<Value>,
    #[case] detail: Option<&str>,
) {
    let mut world = World::new();
    world.put(mk_csv_in("csv1", "Replacing", "BeingReplaced"));
    world.put(replacing(mk_csv_in("csv2", "Pending", "RequirementsUnknown"), "csv1"));
    if let Some(condition) = condition {
        let list = |name: &str| -> Value {
            let entries = condition[name].as_array().cloned().unwrap_or_default();
            let entry = |entry: &Value| {
                json!({
                    "type": "Upgradeable", "status": entry[0], "observedGeneration": entry[1],
                    "message": entry[2], "reason": "R",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                })
            };
            entries.iter().map(entry).collect()
        };
        world.put(json!({
            "apiVersion": "operators.coreos.com/v2", "kind": "OperatorCondition",
            "metadata": {"name": "csv1", "namespace": NS, "generation": 1},
            "spec": {"overrides": list("overrides"), "conditions": list("conditions")},
            "status": {"conditions": list("status")},
        }));
    }
    let expected = match detail {
        None => {
            "InstallReady/AllRequirementsMet all requirements found, attempting install".to_owned()
        }
        Some(detail) => {
            format!("Pending/OperatorConditionNotUpgradeable operator is not upgradeable: {detail}")
        }
    };
    assert_eq!(world.next("csv2"), expected);
}
