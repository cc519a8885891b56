//! What Operators list and what becomes a component (spec olm-operator 6.1, 6.2, 8.30).

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Secret, ServiceAccount};
use kube_core::PartialObjectMeta;
use olm_effect::{Action, Effect, Resource, Target};
use olm_types::api::{ClusterServiceVersion, Operator, Subscription};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

const KEY: &str = "operators.coreos.com/poultry.ns";

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn observed(operator: Option<Value>, components: &[&dyn Component]) -> Observed {
    Observed {
        name: "poultry.ns".to_owned(),
        operator: operator.map(|operator| Arc::new(object(operator))),
        key: KEY.to_owned(),
        components: components.iter().map(|component| component.reference()).collect(),
        alike: 0,
    }
}

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns"}})
}

/// The status that is written.
fn status(effect: Option<Effect>) -> Value {
    match effect.map(|effect| effect.action) {
        Some(Action::Status { object, .. }) => object.pointer("/status").cloned().unwrap(),
        other => panic!("no status is written but {other:?}"),
    }
}

#[test]
fn an_operator_comes_back_while_it_has_components_and_only_then() {
    let namespace: Namespace = object(json!({"metadata": {"name": "here"}}));
    let created = decide(&observed(None, &[&namespace])).unwrap();
    assert_eq!(created.target.to_string(), "Operator poultry.ns");
    assert!(matches!(created.action, Action::Create(_)));
    assert_eq!(decide(&observed(None, &[])), None);
    let mut odd = observed(None, &[&namespace]);
    odd.name = "Not_A_Name".to_owned();
    assert_eq!(decide(&odd), None, "the API server would refuse it");
}

/// Whoever may label an object of a namespace would fill the cluster with Operators, which stay until a person
/// deletes them.
#[rstest]
#[case::of_its_namespace("poultry.ns", 0, true)]
#[case::of_another_namespace("poultry.other", 0, false)]
#[case::of_no_namespace("poultry", 0, false)]
#[case::the_last_of_its_namespace("poultry.ns", 499, true)]
#[case::one_too_many("poultry.ns", 500, false)]
#[case::by_a_name_that_lost_its_end(&"p".repeat(63), 0, false)]
fn a_label_in_a_namespace_brings_operators_of_that_namespace(
    #[case] name: &str,
    #[case] alike: usize,
    #[case] begins: bool,
) {
    let account: ServiceAccount = object(named("a"));
    let observed = Observed { name: name.to_owned(), alike, ..observed(None, &[&account]) };
    assert_eq!(decide(&observed).is_some(), begins);
}

/// The label of a Subscription to a package with a long name does not say where it is.
#[test]
fn a_subscription_brings_an_operator_whose_name_lost_its_end() {
    let name = "p".repeat(63);
    let subscription = to_poultry("s", "p");
    let observed = Observed { name, ..observed(None, &[subscription.as_ref()]) };
    assert!(decide(&observed).is_some());
}

#[test]
fn the_status_lists_components_by_kind_version_namespace_and_name() {
    let accounts: Vec<ServiceAccount> = ["b", "a"].map(|name| object(named(name))).into();
    let role: k8s_openapi::api::rbac::v1::Role = object(named("r"));
    let secret: PartialObjectMeta<Secret> = object(named("s"));
    let components: [&dyn Component; 4] = [&accounts[0], &secret, &role, &accounts[1]];
    let status =
        status(decide(&observed(Some(json!({"metadata": {"name": "poultry.ns"}})), &components)));
    insta::assert_json_snapshot!(status);
}

#[test]
fn conditions_are_reported_where_a_kind_has_them() {
    let deployment: Deployment = object(json!({
        "metadata": {"name": "d", "namespace": "ns"},
        "status": {"conditions": [{
            "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        }]},
    }));
    let csv: ClusterServiceVersion = object(json!({
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {},
        "status": {"phase": "Succeeded", "reason": "InstallSucceeded"},
    }));
    let plan: PlanSummary = object(json!({
        "metadata": {"name": "i", "namespace": "ns"},
        "spec": {"approved": true},
        "status": {"plan": [], "conditions": [{"type": "Installed", "status": "True"}]},
    }));
    let reported = [deployment.conditions(), csv.conditions(), plan.conditions()];
    insta::assert_json_snapshot!(reported);
}

#[test]
fn nothing_is_written_when_the_status_is_right() {
    let operator = Some(json!({"metadata": {"name": "poultry.ns"}}));
    let written = status(decide(&observed(operator, &[])));
    let operator = json!({"metadata": {"name": "poultry.ns"}, "status": written});
    assert_eq!(decide(&observed(Some(operator), &[])), None);
    let parsed: Operator =
        object(json!({"metadata": {"name": "a"}, "status": {"components": null}}));
    assert_eq!(parsed.status.unwrap().components, None);
}

fn patched(effects: &[Effect]) -> Vec<(String, Value)> {
    let labels = |effect: &Effect| match &effect.action {
        Action::MergePatch { patch, .. } => patch.pointer("/metadata/labels").cloned().unwrap(),
        other => panic!("not a patch: {other:?}"),
    };
    effects.iter().map(|effect| (effect.target.to_string(), labels(effect))).collect()
}

#[test]
fn a_subscription_labels_itself_its_csv_and_its_present_plan() {
    let subscription: Subscription = object(json!({
        "metadata": {"name": "s", "namespace": "ns"},
        "spec": {"name": "poultry", "source": "c", "sourceNamespace": "ns"},
        "status": {"installedCSV": "csv", "installPlanRef": {"name": "new"}, "lastUpdated": null},
    }));
    let csv: ClusterServiceVersion =
        object(json!({"metadata": {"name": "csv", "namespace": "ns"}, "spec": {}}));
    let labelled = BTreeMap::from([(KEY.to_owned(), String::new())]);
    let plans = BTreeMap::from([
        ("new".to_owned(), BTreeMap::new()),
        ("old".to_owned(), labelled.clone()),
        ("other".to_owned(), BTreeMap::new()),
    ]);
    let effects = adopt_by_subscription(&subscription, &[], Some(&csv), &plans);
    let expected = [
        ("Subscription ns/s", json!({KEY: ""})),
        ("ClusterServiceVersion ns/csv", json!({KEY: ""})),
        ("InstallPlan ns/new", json!({KEY: ""})),
        ("InstallPlan ns/old", json!({KEY: null})),
    ];
    assert_eq!(patched(&effects), expected.map(|(target, patch)| (target.to_owned(), patch)));
    let missing = adopt_by_subscription(&subscription, &[], None, &BTreeMap::new());
    assert_eq!(missing.len(), 1, "objects that do not exist are passed over");
}

fn to_poultry(name: &str, plan: &str) -> Arc<Subscription> {
    Arc::new(object(json!({
        "metadata": {"name": name, "namespace": "ns", "labels": {KEY: ""}},
        "spec": {"name": "poultry", "source": "c", "sourceNamespace": "ns"},
        "status": {"installPlanRef": {"name": plan}, "lastUpdated": null},
    })))
}

/// Carries the patches of InstallPlans out.
fn apply(plans: &mut InstallPlanLabels, effects: &[Effect]) {
    for (target, patch) in patched(effects) {
        let Some(name) = target.strip_prefix("InstallPlan ns/") else { continue };
        let labels = plans.get_mut(name).unwrap();
        match patch[KEY].is_null() {
            true => drop(labels.remove(KEY)),
            false => drop(labels.insert(KEY.to_owned(), String::new())),
        }
    }
}

#[test]
fn two_subscriptions_to_one_package_come_to_rest() {
    let both = [to_poultry("one", "first"), to_poultry("two", "second")];
    let labelled = BTreeMap::from([(KEY.to_owned(), String::new())]);
    let mut plans = BTreeMap::from([
        ("first".to_owned(), BTreeMap::new()),
        ("second".to_owned(), BTreeMap::new()),
        ("older".to_owned(), labelled.clone()),
    ]);
    for one in &both {
        let effects = adopt_by_subscription(one, &both, None, &plans);
        apply(&mut plans, &effects);
    }
    for one in &both {
        assert_eq!(adopt_by_subscription(one, &both, None, &plans), []);
    }
    let expected = [("first", labelled.clone()), ("older", BTreeMap::new()), ("second", labelled)];
    assert_eq!(plans, BTreeMap::from(expected.map(|(name, labels)| (name.to_owned(), labels))));
}

#[rstest]
#[case::no_package(json!({"name": "", "source": "c", "sourceNamespace": "ns"}))]
#[case::no_label_can_be_made(json!({"name": "-".repeat(80), "source": "c", "sourceNamespace": "ns"}))]
fn a_subscription_without_an_operator_labels_nothing(#[case] spec: Value) {
    let subscription = object(json!({"metadata": {"name": "s", "namespace": "ns"}, "spec": spec}));
    assert_eq!(adopt_by_subscription(&subscription, &[], None, &BTreeMap::new()), []);
}

fn owned(kind: &str, name: &str, labels: &[&str]) -> Owned {
    let labels = labels.iter().map(|key| ((*key).to_owned(), "true".to_owned())).collect();
    let target = Target::namespaced(Resource::new("", "v1", kind, "x"), "ns", name);
    Owned { target, labels }
}

#[test]
fn a_csv_passes_its_labels_on_to_what_olm_made() {
    let csv: ClusterServiceVersion = object(json!({
        "metadata": {"name": "csv", "namespace": "ns", "labels": {KEY: "", "other": ""}},
        "spec": {},
    }));
    let candidates = [
        owned("ServiceAccount", "ours", &["olm.managed"]),
        owned("ServiceAccount", "theirs", &[]),
        owned("Secret", "any", &[]),
        owned("Role", "done", &["olm.managed", KEY]),
    ];
    let effects = adopt_by_csv(&csv, &candidates);
    let expected = ["ServiceAccount ns/ours", "Secret ns/any"];
    let targets: Vec<String> = effects.iter().map(|effect| effect.target.to_string()).collect();
    assert_eq!(targets, expected);
    let mut copy = csv;
    copy.metadata
        .labels
        .get_or_insert_default()
        .insert("olm.copiedFrom".to_owned(), "x".to_owned());
    assert_eq!(adopt_by_csv(&copy, &candidates), []);
}
