//! The rows of spec olm-operator 8.12, and the order of entries.

use super::*;
use crate::csv::tests::fixtures::{NS, mk_crd, mk_csv_in, own, require};
use crate::csv::tests::world::World;
use rstest::rstest;
use serde_json::{Value, json};

const UID: &str = "uid-csv";

fn mk_account(owners: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "sa", "namespace": NS, "ownerReferences": owners},
    })
}

fn mk_owner(kind: &str, uid: &str) -> Value {
    json!([{"apiVersion": "operators.coreos.com/v1alpha1", "kind": kind, "name": "x", "uid": uid}])
}

/// A role of `kind` with these rules, bound to account `sa`.
fn grant(world: &mut World, kind: &str, rules: Value) {
    let api_version = "rbac.authorization.k8s.io/v1";
    world.put(json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": "r"}, "rules": rules,
    }));
    world.put(json!({
        "apiVersion": api_version, "kind": format!("{kind}Binding"), "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": NS}],
    }));
}

fn evaluate_csv(world: &mut World, csv: Value) -> Requirements {
    world.put(csv);
    match evaluate(&world.observe("csv")) {
        Evaluation::Known(requirements) => requirements,
        other => panic!("{other:?}"),
    }
}

/// `kind status dependents` of the entries after the one for the version.
fn summary(requirements: &Requirements) -> Vec<String> {
    let entries = requirements.entries.iter().skip(1);
    entries.map(|one| format!("{} {} {}", one.kind, one.status, one.dependents.len())).collect()
}

fn mk_csv_with_permissions(permissions: Value, cluster_permissions: Value) -> Value {
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    csv["spec"]["install"]["spec"]["permissions"] = permissions;
    csv["spec"]["install"]["spec"]["clusterPermissions"] = cluster_permissions;
    csv
}

fn donuts() -> Value {
    json!([{"serviceAccountName": "sa", "rules": [
        {"verbs": ["eat", "drink"], "apiGroups": ["donut"], "resources": ["*"]}
    ]}])
}

fn osbs() -> Value {
    json!([{"serviceAccountName": "sa", "rules": [{"verbs": ["get"], "nonResourceURLs": ["/osbs"]}]}])
}

#[rstest]
#[case::all_met("/osbs", true, "ServiceAccount Present 2")]
#[case::one_not_met("/osbs/*", false, "ServiceAccount PresentNotSatisfied 2")]
fn permissions(#[case] granted: &str, #[case] met: bool, #[case] expected: &str) {
    let mut world = World::new();
    world.put(mk_account(&json!([])));
    let rule = json!({"verbs": ["eat", "drink"], "apiGroups": ["donut"], "resources": ["*"]});
    grant(&mut world, "Role", json!([rule]));
    grant(&mut world, "ClusterRole", json!([{"verbs": ["get"], "nonResourceURLs": [granted]}]));
    let requirements = evaluate_csv(&mut world, mk_csv_with_permissions(donuts(), osbs()));
    assert_eq!((requirements.met, summary(&requirements)), (met, vec![expected.to_owned()]));
}

#[rstest]
#[case::another_csv(
    mk_owner("ClusterServiceVersion", "other"),
    false,
    "ServiceAccount PresentNotSatisfied 0"
)]
#[case::this_csv(mk_owner("ClusterServiceVersion", UID), true, "ServiceAccount Present 0")]
#[case::another_kind(mk_owner("ConfigMap", "other"), true, "ServiceAccount Present 0")]
#[case::no_subject(json!([]), true, "ServiceAccount Present 0")]
fn owners_of_the_account(#[case] owners: Value, #[case] met: bool, #[case] expected: &str) {
    let mut world = World::new();
    world.put(mk_account(&owners));
    let permissions = json!([{"serviceAccountName": "sa", "rules": []}]);
    let requirements = evaluate_csv(&mut world, mk_csv_with_permissions(permissions, json!([])));
    assert_eq!((requirements.met, summary(&requirements)), (met, vec![expected.to_owned()]));
}

#[test]
fn a_missing_account_is_not_present() {
    let mut world = World::new();
    let requirements = evaluate_csv(&mut world, mk_csv_with_permissions(donuts(), osbs()));
    assert_eq!(summary(&requirements), ["ServiceAccount NotPresent 0"]);
    assert_eq!(requirements.entries[1].message, "Service account does not exist");
}

#[test]
fn owned_and_required_crds_and_an_account() {
    let mut world = World::new();
    world.put(mk_account(&json!([])));
    world.put(mk_crd("c1.g"));
    world.put(mk_crd("c2.g"));
    let rule = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    grant(&mut world, "Role", json!([rule]));
    let mut csv = mk_csv_with_permissions(donuts(), json!([]));
    own(&mut csv, &["c1.g"]);
    require(&mut csv, &["c2.g"]);
    let requirements = evaluate_csv(&mut world, csv);
    assert!(requirements.met);
    assert_eq!(
        summary(&requirements),
        [
            "CustomResourceDefinition Present 0",
            "CustomResourceDefinition Present 0",
            "ServiceAccount Present 1"
        ]
    );
    assert_eq!(requirements.entries[1].uuid.as_deref(), Some("uid-c1.g"));
    let dependent = &requirements.entries[3].dependents[0];
    assert_eq!(
        dependent.message.as_deref(),
        Some(
            r#"namespaced rule:{"verbs":["eat","drink"],"apiGroups":["donut"],"resources":["*"]}"#
        )
    );
}

#[rstest]
#[case::not_served(|crd: &mut Value| crd["spec"]["versions"][0]["served"] = json!(false),
    "NotPresent", "CRD version not served")]
#[case::other_version(|crd: &mut Value| crd["spec"]["versions"][0]["name"] = json!("v2"),
    "NotPresent", "CRD version not served")]
#[case::names_conflict(|crd: &mut Value| crd["status"]["conditions"][1]["status"] = json!("False"),
    "PresentNotAvailable", "CRD is present but the Established condition is False (not available)")]
#[case::not_established(|crd: &mut Value| crd["status"]["conditions"][0]["status"] = json!("False"),
    "PresentNotAvailable", "CRD is present but the Established condition is False (not available)")]
#[case::of_an_older_version(
    |crd: &mut Value| crd["metadata"]["annotations"] =
        json!({"operatorframework.io/installed-alongside-1": "ns/old"}),
    "PresentNotSatisfied", "CRD installed alongside other CSV(s): old")]
fn states_of_a_crd(#[case] harm: fn(&mut Value), #[case] status: &str, #[case] message: &str) {
    let mut world = World::new();
    let mut crd = mk_crd("c1.g");
    harm(&mut crd);
    world.put(crd);
    world.put(mk_csv_in("old", "Replacing", "BeingReplaced"));
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    csv["spec"]["replaces"] = json!("old");
    own(&mut csv, &["c1.g"]);
    let requirements = evaluate_csv(&mut world, csv);
    assert!(!requirements.met);
    let entry = &requirements.entries[1];
    assert_eq!((entry.status.as_str(), entry.message.as_str()), (status, message));
}

#[rstest]
#[case::served(true, "Present", "Native API exists")]
#[case::not_served(false, "NotPresent", "Native API does not exist")]
fn native_apis_are_asked_for(#[case] served: bool, #[case] status: &str, #[case] message: &str) {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    csv["spec"]["nativeAPIs"] = json!([{"group": "g.io", "version": "v1", "kind": "N"}]);
    world.put(csv);
    let mut observed = world.observe("csv");
    let api = Gvk::new("g.io", "v1", "N");
    assert_eq!(
        evaluate(&observed),
        Evaluation::Need(Request::Served(BTreeSet::from([api.clone()])))
    );
    observed.served.insert(api, served);
    let Evaluation::Known(requirements) = evaluate(&observed) else { panic!("not known") };
    let entry = &requirements.entries[1];
    assert_eq!((requirements.met, entry.name.as_str()), (served, "v1.g.io"));
    assert_eq!((entry.status.as_str(), entry.message.as_str()), (status, message));
}

/// v0 lists them in the order of a Go map, and leaves out those whose rights it finds by their labels.
#[test]
fn every_account_is_listed_by_name() {
    let mut world = World::new();
    let accounts = ["zoe", "sa", "ann"];
    let permissions: Vec<Value> =
        accounts.iter().map(|name| json!({"serviceAccountName": name, "rules": []})).collect();
    for name in accounts {
        let mut account = mk_account(&json!([]));
        account["metadata"]["name"] = json!(name);
        world.put(account);
    }
    let csv = mk_csv_with_permissions(json!(permissions), json!([]));
    let requirements = evaluate_csv(&mut world, csv);
    let names: Vec<&str> =
        requirements.entries.iter().skip(1).map(|entry| entry.name.as_str()).collect();
    assert_eq!((requirements.met, names), (true, vec!["ann", "sa", "zoe"]));
}
