//! Rights that accounts have by a role that Kubernetes fills with those of other roles.

use super::*;

const RBAC: &str = "rbac.authorization.k8s.io";

/// The label of the roles that the filled one selects.
const SELECTED: &str = "x.io/aggregate-to-kettle";

fn role(name: &str, resources: &[&str]) -> Value {
    let rules: Vec<Value> = resources
        .iter()
        .map(|resource| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]}))
        .collect();
    json!({"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole",
        "metadata": {"name": name}, "rules": rules})
}

/// A role that the other one is filled with.
fn part(resources: &[&str]) -> Value {
    let mut part = role("kettle-part", resources);
    part["metadata"]["labels"] = json!({ SELECTED: "true" });
    part
}

/// The role that is filled.
fn filled(resources: &[&str]) -> Value {
    let mut filled = role("kettle-all", resources);
    filled["aggregationRule"] =
        json!({"clusterRoleSelectors": [{"matchLabels": {SELECTED: "true"}}]});
    filled
}

fn binding() -> Value {
    json!({"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRoleBinding",
        "metadata": {"name": "kettle-all"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "kettle-all"},
        "subjects": [{"kind": "ServiceAccount", "name": "kettle", "namespace": HOME}]})
}

/// A cluster in which the bundle of a version brings these objects, too.
fn known_with(version: u64, objects: &[Value], more: &[Value]) -> Known {
    let mut known = known(objects);
    let csv = csv(version);
    let all = [csv.clone(), crd(&["v1"])].into_iter().chain(more.iter().cloned());
    let bundle = UnpackedBundle {
        csv_name: format!("kettle.v{version}"),
        csv_json: csv.to_string(),
        objects: all.map(|object| object.to_string()).collect(),
    };
    let key = (CatalogKey::new("olm", "kitchen"), format!("kettle.v{version}").into());
    known.bundles.insert(key, Content::Read(Arc::new(bundle)));
    known
}

fn rights(rights: &[permissions::Right]) -> Vec<String> {
    rights.iter().map(|right| permissions::right(right).trim().to_owned()).collect()
}

#[test]
fn an_installation_shows_what_a_filled_role_gives() {
    let known = known_with(1, &[], &[filled(&[]), part(&["nodes"]), binding()]);
    let version = Some("1.0.0".to_owned());
    let wanted = Install { version, is_manual: true, ..install("kettle") };
    let preview = complete(Operation::Install(wanted), &known);
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    let gained = rights(&preview.rights.gained);
    assert!(gained.contains(&"kettle in cluster: get nodes of core".to_owned()), "{gained:?}");
}

/// The bundle has the role without rules, as its author wrote it.
#[test]
fn an_upgrade_does_not_take_what_a_filled_role_gives() {
    let mut objects = installed("Manual");
    objects[3]["spec"] = json!({});
    objects.extend([filled(&["nodes"]), part(&["nodes"]), binding()]);
    let more = [filled(&[]), part(&["nodes", "namespaces"]), binding()];
    let preview = complete(upgrade(None), &known_with(2, &objects, &more));
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    let (gained, lost) = (rights(&preview.rights.gained), rights(&preview.rights.lost));
    assert!(!lost.iter().any(|line| line.contains("nodes")), "{lost:?}");
    assert!(gained.contains(&"kettle in cluster: get namespaces of core".to_owned()), "{gained:?}");
    assert!(!gained.iter().any(|line| line.contains("nodes")), "{gained:?}");
    let is_filled = |change: &&Change| change.place() == "ClusterRole kettle-all";
    let role = preview.changes.iter().find(is_filled).unwrap();
    let rules = role.fields.iter().filter(|field| field.path.starts_with("rules"));
    let rules: Vec<&str> = rules.map(|field| field.path.as_str()).collect();
    assert_eq!(rules, ["rules[1]"]);
}

/// A role of others that Kubernetes fills is not written by OLM; what accounts have by it is shown.
#[test]
fn a_filled_role_of_others_gives_rights_and_is_no_change() {
    let mut objects = installed("Manual");
    objects[3]["spec"] = json!({});
    objects.extend([filled(&["nodes"]), part(&["nodes"]), binding()]);
    let more = [part(&["namespaces"])];
    let preview = complete(upgrade(None), &known_with(2, &objects, &more));
    let (gained, lost) = (rights(&preview.rights.gained), rights(&preview.rights.lost));
    assert!(gained.contains(&"kettle in cluster: get namespaces of core".to_owned()), "{gained:?}");
    assert!(lost.contains(&"kettle in cluster: get nodes of core".to_owned()), "{lost:?}");
    let found = lines(&preview);
    assert!(found.contains(&"~ ClusterRole kettle-part".to_owned()), "{found:?}");
    assert!(!found.iter().any(|line| line.ends_with("kettle-all")), "{found:?}");
}
