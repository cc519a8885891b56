//! Roles for users of an operator's APIs, and rights of operators that watch all namespaces (spec
//! olm-operator 4.6, 4.7, 8.6).

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

#[test]
fn users_get_roles_for_the_apis_of_an_operator_that_runs() {
    let mut world = with_api();
    let decision = world.sync("csv");
    let made: Vec<&str> = decision.effects.iter().map(|it| it.target.name.as_str()).collect();
    let expected = ["view", "crdview", "edit", "admin"].map(|end| format!("as.g.io-v1-{end}"));
    assert_eq!(made, expected);
    let role = world.get("ClusterRole", "as.g.io-v1-view").unwrap();
    assert_eq!(role["metadata"]["ownerReferences"][0]["uid"], json!("uid-as.g.io"));
    assert!(world.sync("csv").effects.is_empty());
}

/// What Kubernetes collects changes in one level after the other, and not in all with each API.
#[test]
fn roles_of_all_apis_are_made_level_by_level() {
    let mut world = with_api();
    world.put(mk_crd("bs.g.io"));
    world.edit("ClusterServiceVersion", "csv", |csv| own(csv, &["as.g.io", "bs.g.io"]));
    let decision = world.sync("csv");
    let made: Vec<&str> = decision.effects.iter().map(|it| it.target.name.as_str()).collect();
    let expected = [
        "as.g.io-v1-view",
        "as.g.io-v1-crdview",
        "bs.g.io-v1-view",
        "bs.g.io-v1-crdview",
        "as.g.io-v1-edit",
        "bs.g.io-v1-edit",
        "as.g.io-v1-admin",
        "bs.g.io-v1-admin",
    ];
    assert_eq!(made, expected);
}

#[test]
fn a_role_that_was_changed_is_repaired() {
    let mut world = with_api();
    world.sync("csv");
    world.edit("ClusterRole", "as.g.io-v1-view", |role| {
        role["rules"][0]["verbs"] = json!(["*"]);
        role["metadata"]["labels"]["mine"] = json!("stays");
    });
    world.sync("csv");
    let role = world.get("ClusterRole", "as.g.io-v1-view").unwrap();
    assert_eq!(role["rules"][0]["verbs"], json!(["get", "list", "watch"]));
    assert_eq!(role["metadata"]["labels"]["mine"], json!("stays"));
}

#[test]
fn an_operator_that_does_not_run_gives_no_roles() {
    let mut world = with_api();
    world.set_available("csv-dep", "False", "away");
    world.sync("csv");
    assert_eq!(world.get("ClusterRole", "as.g.io-v1-view"), None);
}

fn rule(resource: &str) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]})
}

fn labels() -> Value {
    json!({
        "olm.owner": "csv", "olm.owner.namespace": NS, "olm.owner.kind": "ClusterServiceVersion",
    })
}

/// A pending CSV that asks for pods, whose Role holds `role` and is bound to `account`.
fn granted(targets: &[&str], role: &Value, account: &str) -> World {
    let mut world = World::new();
    world.put(mk_group("default", json!({}), targets));
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsNotMet");
    csv["metadata"]["annotations"]["olm.targetNamespaces"] = json!(targets.join(","));
    csv["spec"]["install"]["spec"]["permissions"] =
        json!([{"serviceAccountName": "sa", "rules": [rule("pods")]}]);
    world.put(csv);
    world.put(json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": NS},
    }));
    let metadata = json!({"name": "csv-sa", "namespace": NS, "labels": labels()});
    world.put(json!({"kind": "Role", "metadata": metadata, "rules": [role]}));
    world.put(json!({
        "kind": "RoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "csv-sa"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NS}],
    }));
    world
}

#[test]
fn rights_are_lifted_for_a_group_that_selects_all_namespaces() {
    let mut world = granted(&[""], &rule("pods"), "sa");
    world.sync("csv");
    let role = world.get("ClusterRole", "csv-sa").unwrap();
    let namespaces =
        json!({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]});
    assert_eq!(role["rules"], json!([rule("pods"), namespaces]));
    assert_eq!(role["metadata"]["labels"]["olm.owner"], json!("csv"));
    let binding = world.get("ClusterRoleBinding", "csv-sa").unwrap();
    assert_eq!(binding["roleRef"]["kind"], json!("ClusterRole"));
    assert!(world.get("Role", "csv-sa").is_some(), "the Role stays");
    assert!(world.next("csv").starts_with("InstallReady/"));
}

#[test]
fn changed_rights_reach_what_was_lifted() {
    let mut world = granted(&[""], &rule("pods"), "sa");
    world.sync("csv");
    world.edit("Role", "csv-sa", |role| role["rules"] = json!([]));
    world.sync("csv");
    let role = world.get("ClusterRole", "csv-sa").unwrap();
    assert_eq!(role["rules"].as_array().unwrap().len(), 1);
}

#[rstest]
#[case::only_named_namespaces(&[NS], rule("pods"), "sa")]
#[case::more_than_the_csv_asks_for(&[""], rule("secrets"), "sa")]
fn nothing_else_is_lifted(#[case] targets: &[&str], #[case] role: Value, #[case] account: &str) {
    let mut world = granted(targets, &role, account);
    world.sync("csv");
    assert_eq!(world.get("ClusterRole", "csv-sa"), None);
    assert_eq!(world.get("ClusterRoleBinding", "csv-sa"), None);
}

#[test]
fn a_binding_to_an_account_that_the_csv_does_not_name_is_not_lifted() {
    let mut world = granted(&[""], &rule("pods"), "stranger");
    world.sync("csv");
    assert_eq!(world.get("ClusterRoleBinding", "csv-sa"), None);
}

#[test]
fn what_is_held_in_the_whole_cluster_already_is_not_lifted() {
    let mut world = granted(&[""], &rule("pods"), "sa");
    world.put(json!({"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [rule("pods")]}));
    world.put(json!({
        "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": NS}],
    }));
    world.sync("csv");
    assert_eq!(world.get("ClusterRole", "csv-sa"), None);
}

#[test]
fn lifting_waits_until_the_cluster_permissions_are_there() {
    let mut world = granted(&[""], &rule("pods"), "sa");
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["spec"]["install"]["spec"]["clusterPermissions"] =
            json!([{"serviceAccountName": "sa", "rules": [rule("nodes")]}]);
    });
    world.sync("csv");
    assert_eq!(world.get("ClusterRole", "csv-sa"), None);
}

#[test]
fn what_was_lifted_goes_when_the_group_selects_less() {
    let mut world = granted(&[""], &rule("pods"), "sa");
    world.sync("csv");
    world.put(json!({
        "kind": "ClusterRole", "metadata": {"name": "csv-cluster", "labels": labels()},
    }));
    world.put(mk_group("default", json!({"targetNamespaces": [NS]}), &[NS]));
    world.next("csv");
    world.next("csv");
    assert_eq!(world.get("ClusterRole", "csv-sa"), None);
    assert_eq!(world.get("ClusterRoleBinding", "csv-sa"), None);
    assert!(world.get("ClusterRole", "csv-cluster").is_some(), "was never lifted");
}
