//! What is taken over from v0's package server, and from whom nothing is taken.

use rstest::rstest;
use serde::de::DeserializeOwned;

use super::*;

const GROUP_VERSION: &str = "operators.coreos.com/v1alpha1";

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn owner(name: &str, uid: &str) -> Value {
    json!({"apiVersion": GROUP_VERSION, "kind": "ClusterServiceVersion", "name": name, "uid": uid})
}

/// As v0 installs it.
fn package_server() -> Value {
    let template = json!({"metadata": {"labels": {"app": "packageserver", "tier": "api"}}});
    json!({
        "apiVersion": GROUP_VERSION, "kind": "ClusterServiceVersion",
        "metadata": {"name": "packageserver", "namespace": "olm", "uid": "v0"},
        "spec": {
            "displayName": "Package Server",
            "apiservicedefinitions": {"owned": [{
                "group": "packages.operators.coreos.com", "version": "v1",
                "kind": "PackageManifest", "name": "packagemanifests",
            }]},
            "install": {"strategy": "deployment", "spec": {"deployments": [
                {"name": "packageserver", "spec": {"template": template}},
            ]}},
        },
    })
}

fn service(selector: Value, owners: &[Value]) -> Value {
    json!({
        "metadata": {
            "name": SERVICE, "namespace": "olm", "resourceVersion": "7", "ownerReferences": owners,
        },
        "spec": {"selector": selector},
    })
}

fn api_service(namespace: &str) -> Value {
    json!({
        "metadata": {"name": API_SERVICE, "labels": {
            "olm.managed": "true", "olm.owner": "packageserver", "olm.owner.namespace": "olm",
            "olm.owner.kind": "ClusterServiceVersion",
        }},
        "spec": {
            "group": "packages.operators.coreos.com", "version": "v1",
            "groupPriorityMinimum": 2000, "versionPriority": 15,
            "service": {"name": SERVICE, "namespace": namespace, "port": 5443},
        },
    })
}

/// A cluster as v0 left it.
fn left() -> Observed {
    let owners = [owner("packageserver", "v0")];
    let secret = json!({"metadata": {
        "name": "packageserver-service-cert", "namespace": "olm", "resourceVersion": "8",
        "ownerReferences": owners,
    }});
    Observed {
        namespace: "olm".to_owned(),
        secret: Some(object(secret)),
        api_service: Some(object(api_service("olm"))),
        predecessor: Some(object(package_server())),
        service: Some(object(service(json!({"app": "packageserver"}), &owners))),
        ..Observed::default()
    }
}

fn patches(effects: &[Effect]) -> Vec<Value> {
    let patch = |effect: &Effect| match &effect.action {
        Action::MergePatch { patch, .. } => Some(patch.clone()),
        _ => None,
    };
    effects.iter().filter_map(patch).collect()
}

#[test]
fn what_stays_is_taken_before_the_csv_goes() {
    let effects = take_over(&left());
    let lines: Vec<String> = effects.iter().map(|effect| effect.target.to_string()).collect();
    assert_eq!(
        lines,
        [
            "Service olm/packageserver-service",
            "Secret olm/packageserver-service-cert",
            "APIService v1.packages.operators.coreos.com",
            "ClusterServiceVersion olm/packageserver",
        ]
    );
    assert_eq!(
        patches(&effects),
        [
            json!({
                "metadata": {"resourceVersion": "7", "ownerReferences": []},
                "spec": {"selector": {"app": "catalog-operator"}},
            }),
            json!({"metadata": {"resourceVersion": "8", "ownerReferences": []}}),
            json!({"metadata": {"labels": {
                "olm.owner": null, "olm.owner.kind": null, "olm.owner.namespace": null,
            }}}),
        ]
    );
    let uid = |effect: &Effect| match &effect.action {
        Action::Delete { uid, .. } => uid.clone(),
        _ => None,
    };
    assert_eq!(effects.last().and_then(uid).as_deref(), Some("v0"), "no later one of its name");
}

#[test]
fn what_is_ours_already_is_not_written() {
    let ours = service(json!({"app": "catalog-operator"}), &[]);
    let observed = Observed { service: Some(object(ours)), secret: None, ..left() };
    let kinds: Vec<_> =
        take_over(&observed).into_iter().map(|one| one.target.resource.kind).collect();
    assert_eq!(kinds, ["APIService", "ClusterServiceVersion"]);
}

#[rstest]
#[case::keys_of_its_own(
    json!({"app": "packageserver", "tier": "api"}),
    json!({"selector": {"app": "catalog-operator", "tier": null}})
)]
#[case::chosen_by_an_administrator(json!({"app.kubernetes.io/name": "olm"}), Value::Null)]
#[case::endpoints_made_by_hand(json!({}), Value::Null)]
fn a_selector_changes_only_where_it_leads_to_the_package_server(
    #[case] selector: Value,
    #[case] expected: Value,
) {
    let owners = [owner("packageserver", "v0"), owner("other", "stays")];
    let observed = Observed { service: Some(object(service(selector, &owners))), ..left() };
    let patches = patches(&take_over(&observed));
    assert_eq!(patches[0]["spec"].get("selector"), expected.get("selector"));
    assert_eq!(patches[0]["metadata"]["ownerReferences"][0]["uid"], "stays");
}

#[rstest]
#[case::there_is_none(Observed { predecessor: None, ..left() })]
#[case::it_goes_already(Observed { predecessor: Some(changed_csv(|csv| {
    csv["metadata"]["deletionTimestamp"] = json!("2026-03-01T00:00:00Z");
})), ..left() })]
#[case::of_another_name(Observed { predecessor: Some(changed_csv(|csv| {
    csv["metadata"]["name"] = json!("packageserver.v1.0.0");
})), ..left() })]
#[case::that_provides_something_else(Observed { predecessor: Some(changed_csv(|csv| {
    csv["spec"]["apiservicedefinitions"]["owned"][0]["version"] = json!("v2");
})), ..left() })]
#[case::the_api_is_served_elsewhere(
    Observed { api_service: Some(object(api_service("elsewhere"))), ..left() }
)]
#[case::there_is_no_service(Observed { service: None, ..left() })]
fn nothing_is_taken(#[case] observed: Observed) {
    assert_eq!(take_over(&observed), []);
}

fn changed_csv(change: impl Fn(&mut Value)) -> ClusterServiceVersion {
    let mut csv = package_server();
    change(&mut csv);
    object(csv)
}
