//! Who is woken by what.

use std::sync::Arc;

use super::*;
use crate::metrics::CsvMetrics;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use olm_kit::metrics::Metrics;
use olm_kit::watch::{Change, Store};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

mod api_services;
mod copies;

fn mk<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

/// A CSV that owns `<name>s.g`, needs an API of group `<name>.native`, gives rights to account
/// `<name>`, and failed if there is a reason.
fn mk_csv(name: &str, replaces: Option<&str>, reason: &str) -> ClusterServiceVersion {
    mk(json!({
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {
            "replaces": replaces,
            "nativeAPIs": [{"group": format!("{name}.native"), "version": "v1", "kind": "N"}],
            "customresourcedefinitions": {
                "owned": [{"name": format!("{name}s.g"), "version": "v1", "kind": "K"}],
            },
            "install": {"strategy": "deployment", "spec": {
                "deployments": [{"name": format!("{name}-manager"), "spec": {}}],
                "permissions": [{"serviceAccountName": name, "rules": []}],
            }},
        },
        "status": {"phase": "Failed", "reason": reason},
    }))
}

/// Triggers over CSVs `a`, `b` (replacing `a`) and `c` (a failed install), with RBAC for `a`.
fn mk_triggers() -> Triggers {
    let csvs = [
        mk_csv("a", None, ""),
        mk_csv("b", Some("a"), ""),
        mk_csv("c", None, "InstallComponentFailedNoRetry"),
    ];
    let role_ref = json!({"apiGroup": "", "kind": "ClusterRole", "name": "r"});
    let subjects = json!([{"kind": "ServiceAccount", "name": "a", "namespace": "ns"}]);
    let binding = json!({"metadata": {"name": "r"}, "roleRef": role_ref, "subjects": subjects});
    let group = json!({"metadata": {"name": "og", "namespace": "ns"}});
    let dependents = Dependents::default();
    csvs.iter().for_each(|csv| dependents.update(None, Some(csv)));
    Triggers {
        stores: Stores {
            csvs: Store::with_objects(csvs),
            groups: Store::with_objects([mk(group)]),
            cluster_role_bindings: Store::with_objects([mk(binding)]),
            ..Stores::default()
        },
        queues: Queues::new(None),
        dependents,
        changes: Changes::default(),
        metrics: CsvMetrics::register(&Metrics::new().unwrap()).unwrap(),
        originals: Originals::default(),
        components: ComponentIndex::default(),
    }
}

fn added<K>(object: K) -> Change<K> {
    Change { old: None, new: Some(Arc::new(object)) }
}

fn changed<K>(old: K, new: K) -> Change<K> {
    Change { old: Some(Arc::new(old)), new: Some(Arc::new(new)) }
}

fn removed<K>(object: K) -> Change<K> {
    Change { old: Some(Arc::new(object)), new: None }
}

/// An object in `ns` with an owner reference to CSV `b`.
fn owned_by_b(name: &str) -> Value {
    let owner = json!({"apiVersion": "", "kind": "ClusterServiceVersion", "name": "b", "uid": ""});
    json!({"metadata": {"name": name, "namespace": "ns", "ownerReferences": [owner]}})
}

/// The labels of what belongs to a CSV in `ns`.
fn labels_of(csv: &str) -> Value {
    json!({
        "olm.owner": csv, "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
    })
}

/// A definition of group `g` without versions.
fn mk_crd(plural: &str, status: Value) -> Value {
    json!({
        "metadata": {"name": format!("{plural}.g")},
        "spec": {
            "group": "g", "names": {"plural": plural, "kind": "K"}, "scope": "", "versions": [],
        },
        "status": status,
    })
}

/// An InstallPlan of a CSV.
fn mk_plan(csv: &str, phase: &str) -> Value {
    json!({
        "metadata": {"name": "plan", "namespace": "ns"},
        "spec": {"clusterServiceVersionNames": [csv]}, "status": {"phase": phase},
    })
}

/// Names of the CSVs that are due, sorted.
async fn woken(triggers: &Triggers) -> String {
    let mut names = Vec::new();
    while !triggers.queues.csvs.is_empty() {
        names.push(triggers.queues.csvs.next().await.name);
    }
    names.sort();
    names.join(" ")
}

#[rstest]
#[case::crd(|it: &Triggers| it.crd(&added(mk(mk_crd("as", Value::Null)))), "a")]
#[case::crd_that_is_established_now(|it: &Triggers| it.crd(&changed(
    mk(mk_crd("as", Value::Null)),
    mk(mk_crd("as", json!({"conditions": [{"type": "Established", "status": "True"}]}))),
)), "a")]
#[case::secret(|it: &Triggers| it.secret(&removed(mk(owned_by_b("s")))), "b")]
#[case::service(|it: &Triggers| it.service(&removed(mk(owned_by_b("s")))), "b")]
#[case::role_of_a_server(|it: &Triggers| it.role(&removed(mk(owned_by_b("r")))), "b c")]
#[case::webhook(|it: &Triggers| it.webhook::<ValidatingWebhookConfiguration>(&removed(mk(json!({
    "metadata": {"name": "x", "labels": labels_of("b")},
})))), "b")]
#[case::crd_whose_names_are_accepted(|it: &Triggers| it.crd(&changed(
    mk(mk_crd("as", Value::Null)),
    mk(mk_crd("as", json!({"conditions": [{"type": "NamesAccepted", "status": "True"}]}))),
)), "")]
#[case::foreign_crd(|it: &Triggers| it.crd(&added(mk(mk_crd("xs", Value::Null)))), "")]
#[case::crd_of_an_api_that_is_there_anyway(|it: &Triggers| it.crd(&added(mk(json!({
    "metadata": {"name": "ns.b.native"},
    "spec": {
        "group": "b.native", "names": {"plural": "ns", "kind": "N"}, "scope": "",
        "versions": [{"name": "v1", "served": true, "storage": true}],
    },
})))), "b")]
#[case::api_service(|it: &Triggers| it.api_service(&added(mk(json!({
    "metadata": {"name": "v1.b.native"},
})))), "b")]
#[case::api_service_of_another_version(|it: &Triggers| it.api_service(&added(mk(json!({
    "metadata": {"name": "v2.b.native"},
})))), "")]
#[case::owned_api_service(|it: &Triggers| it.api_service(&added(mk(json!({
    "metadata": {"name": "v1.other", "labels": labels_of("b")},
})))), "b")]
#[case::subscription(|it: &Triggers| it.subscription(&added(mk(json!({
    "metadata": {"name": "x", "namespace": "ns"}, "status": {"installedCSV": "b"},
})))), "b")]
#[case::subscription_that_installs_another(|it: &Triggers| it.subscription(&changed(
    mk(json!({"metadata": {"name": "x", "namespace": "ns"}, "status": {"installedCSV": "a"}})),
    mk(json!({"metadata": {"name": "x", "namespace": "ns"}, "status": {"installedCSV": "b"}})),
)), "a b")]
#[case::new_subscription(|it: &Triggers| it.subscription(&added(mk(json!({
    "metadata": {"name": "x", "namespace": "ns"},
})))), "")]
#[case::proxy(|it: &Triggers| it.proxy(&added(mk(json!({
    "metadata": {"name": "cluster"}, "status": {"httpProxy": "http://p"},
})))), "a b c")]
#[case::proxy_with_the_same_settings(|it: &Triggers| it.proxy(&changed(
    mk(json!({"metadata": {"name": "cluster"}, "status": {"httpProxy": "http://p"}})),
    mk(json!({
        "metadata": {"name": "cluster", "labels": {"a": "b"}}, "status": {"httpProxy": "http://p"},
    })),
)), "")]
#[case::account(|it: &Triggers| it.account(&added(mk(json!({
    "metadata": {"name": "b", "namespace": "ns"},
})))), "b c")]
#[case::account_elsewhere(|it: &Triggers| it.account(&added(mk(json!({
    "metadata": {"name": "b", "namespace": "elsewhere"},
})))), "")]
#[case::cluster_role(|it: &Triggers| it.cluster_role(&added(mk(json!({
    "metadata": {"name": "r"},
})))), "a")]
#[case::cluster_role_with_the_same_rules(|it: &Triggers| it.cluster_role(&changed(
    mk(json!({"metadata": {"name": "r"}})), mk(json!({"metadata": {"name": "r", "labels": {}}})),
)), "")]
#[case::owned_cluster_role(|it: &Triggers| it.cluster_role(&added(mk(json!({
    "metadata": {"name": "x", "labels": labels_of("b")},
})))), "b")]
#[case::role_binding(|it: &Triggers| it.role_binding(&added(mk(json!({
    "metadata": {"name": "x", "namespace": "ns"},
    "roleRef": {"apiGroup": "", "kind": "Role", "name": "r"},
    "subjects": [{"kind": "ServiceAccount", "name": "b"}],
})))), "b c")]
#[case::deployment(|it: &Triggers| it.deployment(&added(mk(json!({
    "metadata": {"name": "x", "namespace": "ns", "labels": labels_of("b")},
})))), "b")]
#[case::foreign_deployment(|it: &Triggers| it.deployment(&added(mk(json!({
    "metadata": {"name": "x", "namespace": "ns"},
})))), "")]
#[case::deployment_that_another_version_wrote(|it: &Triggers| it.deployment(&added(mk(json!({
    "metadata": {"name": "a-manager", "namespace": "ns", "labels": labels_of("b")},
})))), "a b")]
#[case::condition(|it: &Triggers| it.condition(&added(mk(json!({
    "metadata": {"name": "a", "namespace": "ns"},
})))), "b")]
#[case::group(|it: &Triggers| it.group(&added(mk(json!({
    "metadata": {"name": "og", "namespace": "ns"},
})))), "a b c")]
#[case::group_elsewhere_with_the_same_api(|it: &Triggers| it.group(&added(mk(json!({
    "metadata": {
        "name": "og", "namespace": "elsewhere", "annotations": {"olm.providedAPIs": "K.v1.g"},
    },
})))), "a b c")]
#[case::group_elsewhere(|it: &Triggers| it.group(&added(mk(json!({
    "metadata": {"name": "og", "namespace": "elsewhere"},
})))), "")]
#[case::linked_csv(|it: &Triggers| it.csv(&added(mk_csv("a", None, ""))), "a b")]
#[case::other_csv(|it: &Triggers| it.csv(&added(mk_csv("c", None, ""))), "c")]
#[case::plan_is_executed(|it: &Triggers| it.plan(&changed(
    mk(mk_plan("b", "RequiresApproval")), mk(mk_plan("b", "Installing")),
)), "a b")]
#[case::plan_is_done(|it: &Triggers| it.plan(&changed(
    mk(mk_plan("b", "Installing")), mk(mk_plan("b", "Complete")),
)), "a b")]
#[case::plan_is_gone(|it: &Triggers| it.plan(&removed(mk(mk_plan("b", "Installing")))), "a b")]
#[case::plan_goes_on(|it: &Triggers| it.plan(&changed(
    mk(mk_plan("b", "Installing")), mk(mk_plan("b", "Installing")),
)), "")]
#[case::plan_of_another(|it: &Triggers| it.plan(&added(mk(mk_plan("x", "Installing")))), "")]
#[tokio::test]
async fn wakes(#[case] change: fn(&Triggers), #[case] expected: &str) {
    let triggers = mk_triggers();
    change(&triggers);
    assert_eq!(woken(&triggers).await, expected);
}

#[tokio::test]
async fn a_failed_install_is_marked_by_a_change_around_it() {
    let triggers = mk_triggers();
    let key = ObjectKey::namespaced("ns", "c");
    assert!(triggers.changes.take(&key), "never looked at");
    assert!(!triggers.changes.take(&key));
    triggers.role(&added(mk(json!({"metadata": {"name": "x", "namespace": "ns"}}))));
    assert_eq!(woken(&triggers).await, "c");
    assert!(triggers.changes.take(&key));
}

#[tokio::test]
async fn a_csv_in_conflict_is_woken_by_its_neighbours() {
    let mut triggers = mk_triggers();
    triggers.stores.csvs = Store::with_objects([mk_csv("d", None, "OwnerConflict")]);
    triggers.csv(&Change { old: Some(Arc::new(mk_csv("a", None, ""))), new: None });
    assert_eq!(woken(&triggers).await, "a d");
}

#[tokio::test]
async fn a_deployment_that_is_gone_wakes_whoever_makes_one_of_its_name() {
    let mut triggers = mk_triggers();
    let successor = mk(json!({
        "metadata": {"name": "d", "namespace": "ns"},
        "spec": {"install": {"strategy": "deployment", "spec": {
            "deployments": [{"name": "x", "spec": {}}],
        }}},
    }));
    triggers.stores.csvs = Store::with_objects([successor]);
    triggers.deployment(&removed(mk(json!({"metadata": {"name": "x", "namespace": "ns"}}))));
    assert_eq!(woken(&triggers).await, "d");
    triggers.deployment(&removed(mk(json!({"metadata": {"name": "y", "namespace": "ns"}}))));
    assert_eq!(woken(&triggers).await, "");
}

#[tokio::test]
async fn a_group_wakes_the_namespaces_that_it_gains_or_loses() {
    let triggers = mk_triggers();
    let group = |namespaces: &[&str]| {
        mk(json!({
            "metadata": {"name": "og", "namespace": "ns"},
            "status": {"namespaces": namespaces, "lastUpdated": "2026-01-01T00:00:00Z"},
        }))
    };
    triggers.group(&changed(group(&["a", "b"]), group(&["b", "c"])));
    let namespaces = &triggers.queues.namespaces;
    assert_eq!([namespaces.next().await, namespaces.next().await], ["a", "c"]);
    assert!(namespaces.is_empty());
}

/// Whatever its status says: labels of a group that goes, or asks for something else, go.
#[rstest]
#[case::other_targets(&["y"], false, &["x", "y", "z"])]
#[case::goes(&["x"], true, &["x", "z"])]
#[case::as_it_was(&["x"], false, &[])]
#[tokio::test]
async fn a_group_that_asks_anew_wakes_all_that_it_reaches(
    #[case] targets: &[&str],
    #[case] going: bool,
    #[case] expected: &[&str],
) {
    let triggers = mk_triggers();
    let group = |targets: &[&str], going: bool| {
        let since = going.then_some("2026-01-01T00:00:00Z");
        mk(json!({
            "metadata": {"name": "og", "namespace": "ns", "deletionTimestamp": since},
            "spec": {"targetNamespaces": targets},
            "status": {"namespaces": ["z"], "lastUpdated": "2026-01-01T00:00:00Z"},
        }))
    };
    triggers.group(&changed(group(&["x"], false), group(targets, going)));
    let mut woken = Vec::new();
    while !triggers.queues.namespaces.is_empty() {
        woken.push(triggers.queues.namespaces.next().await);
    }
    assert_eq!(woken, expected);
}

#[rstest]
#[case::unrelated_change(json!({"a": "1"}), json!({"a": "1"}), 0)]
#[case::label(json!({"a": "1"}), json!({"a": "2"}), 1)]
#[tokio::test]
async fn labels_of_a_namespace_wake_groups_with_a_selector(
    #[case] old: Value,
    #[case] new: Value,
    #[case] groups: usize,
) {
    let mut triggers = mk_triggers();
    let selective = json!({
        "metadata": {"name": "og", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"a": "2"}}},
    });
    let named = json!({
        "metadata": {"name": "named", "namespace": "ns"}, "spec": {"targetNamespaces": ["x"]},
    });
    triggers.stores.groups = Store::with_objects([mk(selective), mk(named)]);
    let namespace = |labels: Value| mk(json!({"metadata": {"name": "x", "labels": labels}}));
    triggers.namespace(&changed(namespace(old), namespace(new)));
    assert_eq!(triggers.queues.groups.len(), groups);
    assert_eq!(triggers.queues.namespaces.len(), 1);
}

#[tokio::test]
async fn a_role_of_a_group_wakes_it() {
    let triggers = mk_triggers();
    triggers.cluster_role(&added(mk(json!({"metadata": {"name": "x", "labels": {
        "olm.owner": "og", "olm.owner.namespace": "ns", "olm.owner.kind": "OperatorGroup",
    }}}))));
    assert_eq!(triggers.queues.groups.next().await, ObjectKey::namespaced("ns", "og"));
}

#[tokio::test]
async fn only_watched_namespaces_are_worked_on() {
    let mut triggers = mk_triggers();
    triggers.queues = Queues::new(Some(["elsewhere".to_owned()].into()));
    triggers.csv(&added(mk_csv("a", None, "")));
    assert_eq!(woken(&triggers).await, "");
}
