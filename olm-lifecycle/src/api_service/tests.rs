//! Spec olm-operator 3.7 and 8.10.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::Action;
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::certificates::tests::fixtures::{days, mk_csv, mk_secret, objects_with};
use crate::certificates::{ServingSecret, authority_hash};
use crate::csv::Observed;
use crate::install::{Overrides, ProxySettings};

fn mk<K: DeserializeOwned>(value: Value) -> Arc<K> {
    Arc::new(serde_json::from_value(value).unwrap())
}

/// An APIService with the owner labels of a CSV in `ns`.
fn mk_service(owner: &str, bundle: &[u8]) -> Arc<APIService> {
    mk(json!({
        "metadata": {"name": "v1.g", "uid": "u", "labels": {
            "olm.owner": owner, "olm.owner.namespace": "ns",
            "olm.owner.kind": "ClusterServiceVersion",
        }},
        "spec": {
            "group": "g", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"name": "dep-service", "namespace": "ns", "port": 443},
            "caBundle": k8s_openapi::ByteString(bundle.to_vec()),
        },
    }))
}

/// Everything that an install of the fixture's CSV leaves behind.
fn mk_observed() -> Observed {
    let secret = mk_secret(days(100));
    let authority = ServingSecret::new(&secret).active().authority.to_vec();
    let hash = authority_hash(&authority);
    let mut serving = objects_with(secret);
    let named = |name: &str| (name.to_owned(), json!({"metadata": {"name": name}}));
    let (name, object) = named("dep-service");
    serving.services.insert(name, mk(object));
    let (name, object) = named("dep-service-cert");
    serving.roles.insert(name.clone(), mk(object.clone()));
    let binding = |mut object: Value| {
        object["roleRef"] = json!({"apiGroup": "", "kind": "Role", "name": "r"});
        object["subjects"] = json!([{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]);
        object
    };
    serving.role_bindings.insert(name, mk(binding(object)));
    let (name, object) = named("dep-service-system:auth-delegator");
    serving.auth_delegators.insert(name, mk(binding(object)));
    let (name, object) = named("dep-service-auth-reader");
    serving.auth_readers.insert(name, mk(binding(object)));
    serving.accounts.insert("sa".to_owned());
    let deployment = json!({
        "metadata": {"name": "dep"},
        "spec": {
            "selector": {},
            "template": {"metadata": {"annotations": {"olmcahash": hash}}},
        },
    });
    Observed {
        csv: Arc::new(mk_csv()),
        api_services: BTreeMap::from([("v1.g".to_owned(), mk_service("csv", &authority))]),
        deployments: BTreeMap::from([("dep".to_owned(), mk(deployment))]),
        serving,
        ..Observed::default()
    }
}

fn problem(observed: &Observed) -> String {
    check_resources(&observed.serving_csv())
        .err()
        .map(|errors| errors.to_string())
        .unwrap_or_default()
}

#[test]
fn what_an_install_leaves_behind_is_whole() {
    assert_eq!(problem(&mk_observed()), "");
}

#[rstest]
#[case::api_service(|o: &mut Observed| o.api_services.clear(),
    "apiservice.apiregistration.k8s.io \"v1.g\" not found")]
#[case::service(|o: &mut Observed| o.serving.services.clear(),
    "service \"dep-service\" not found")]
#[case::secret(|o: &mut Observed| o.serving.secrets.clear(),
    "secret \"dep-service-cert\" not found")]
#[case::deployment(|o: &mut Observed| o.deployments.clear(),
    "deployment.apps \"dep\" not found")]
#[case::account(|o: &mut Observed| o.serving.accounts.clear(),
    "serviceaccount \"sa\" not found")]
#[case::rights(|o: &mut Observed| { o.serving.roles.clear(); o.serving.auth_readers.clear(); },
    "[role.rbac.authorization.k8s.io \"dep-service-cert\" not found, \
     rolebinding.rbac.authorization.k8s.io \"dep-service-auth-reader\" not found]")]
#[case::taken_by_a_server_elsewhere(
    |o: &mut Observed| {
        let taken = o.serving.auth_delegators.values_mut().map(Arc::make_mut);
        taken.for_each(|binding| binding.subjects = None);
    },
    "clusterrolebinding.rbac.authorization.k8s.io \"dep-service-system:auth-delegator\" does not name \
     serviceaccount ns/sa")]
#[case::reference(|o: &mut Observed| edit(o, |spec| spec["service"]["name"] = json!("other")),
    "found APIService and service reference mismatch")]
#[case::bundle(|o: &mut Observed| edit(o, |spec| spec["caBundle"] = json!("AAAA")),
    "cert PEM empty")]
#[case::hash_of_the_secret(
    |o: &mut Observed| {
        let mut secret = o.serving.secrets["dep-service-cert"].as_ref().clone();
        secret.metadata.annotations = None;
        o.serving.secrets.insert("dep-service-cert".to_owned(), Arc::new(secret));
    },
    "secret dep-service-cert CA cert hash does not match expected")]
#[case::hash_of_the_deployment(
    |o: &mut Observed| {
        let mut deployment = o.deployments["dep"].as_ref().clone();
        deployment.spec.as_mut().unwrap().template.metadata = None;
        o.deployments.insert("dep".to_owned(), Arc::new(deployment));
    },
    "deployment dep CA cert hash does not match expected")]
fn what_is_missing_is_named(#[case] change: fn(&mut Observed), #[case] expected: &str) {
    let mut observed = mk_observed();
    change(&mut observed);
    assert_eq!(problem(&observed), expected);
    assert!(check_resources(&observed.serving_csv()).unwrap_err().is_actionable());
}

fn edit(observed: &mut Observed, change: fn(&mut Value)) {
    let mut service = serde_json::to_value(observed.api_services["v1.g"].as_ref()).unwrap();
    change(&mut service["spec"]);
    observed.api_services.insert("v1.g".to_owned(), mk(service));
}

#[test]
fn an_api_of_another_owner_is_no_matter_of_installing_again() {
    let mut observed = mk_observed();
    observed.api_services.insert("v1.g".to_owned(), mk_service("other", b""));
    let errors = check_resources(&observed.serving_csv()).unwrap_err();
    assert_eq!(errors.to_string(), "v1.g is unadoptable");
    assert!(!errors.is_actionable());
}

#[test]
fn while_two_authorities_are_trusted_the_hash_is_that_of_the_active_one() {
    let mut observed = mk_observed();
    let active = observed.serving.secrets["dep-service-cert"].clone();
    let active = ServingSecret::new(&active).active().authority.to_vec();
    let other = mk_secret(days(1));
    let other = ServingSecret::new(&other).active().authority.to_vec();
    let both = [active, other].concat();
    observed.api_services.insert("v1.g".to_owned(), mk_service("csv", &both));
    assert_eq!(problem(&observed), "");
}

#[rstest]
#[case::own("csv", None, true)]
#[case::replaced("old", Some("Succeeded"), true)]
#[case::makes_way("ancient", Some("Replacing"), true)]
#[case::goes("ancient", Some("Deleting"), true)]
#[case::stays("ancient", Some("Succeeded"), false)]
#[case::unknown("unknown", None, false)]
fn an_api_is_taken_over_from_those_who_make_way(
    #[case] owner: &str,
    #[case] phase: Option<&str>,
    #[case] expected: bool,
) {
    let mut observed = mk_observed();
    let mut csv = mk_csv();
    csv.spec.replaces = Some("old".to_owned());
    observed.csv = Arc::new(csv);
    if let Some(phase) = phase {
        let sibling = json!({
            "metadata": {"name": owner, "namespace": "ns"},
            "spec": {}, "status": {"phase": phase},
        });
        observed.siblings = vec![mk(sibling)];
    }
    assert_eq!(is_adoptable(&observed.serving_csv(), &mk_service(owner, b"")), expected);
}

#[test]
fn labels_decide_whose_an_api_is() {
    let mut observed = mk_observed();
    let bare: Arc<APIService> = mk(json!({"metadata": {"name": "v1.g"}}));
    assert!(!is_adoptable(&observed.serving_csv(), &bare), "one without an owner is not ours");
    let mut elsewhere = mk_service("csv", b"").as_ref().clone();
    let labels = elsewhere.metadata.labels.as_mut().unwrap();
    labels.insert("olm.owner.namespace".to_owned(), "elsewhere".to_owned());
    assert!(!is_adoptable(&observed.serving_csv(), &elsewhere));
    observed.serving.abandoned_api_services.insert("v1.g".to_owned());
    assert!(is_adoptable(&observed.serving_csv(), &elsewhere), "its owner is gone");
    assert!(!is_adoptable(&observed.serving_csv(), &bare), "it never had an owner");
}

#[test]
fn a_new_api_is_created_and_one_that_is_there_brought_up_to_date() {
    let mut observed = mk_observed();
    let trusted = BTreeMap::from([("dep".to_owned(), b"pem".to_vec())]);
    let updated = writes(&observed.serving_csv(), &trusted).unwrap();
    assert_eq!((updated.updates.len(), updated.creations.len()), (1, 0));
    let Action::MergePatch { patch, .. } = &updated.updates[0].action else { panic!() };
    assert_eq!(patch["spec"].get("groupPriorityMinimum"), None, "priorities stay");
    observed.api_services.clear();
    let created = writes(&observed.serving_csv(), &trusted).unwrap();
    assert_eq!((created.updates.len(), created.creations.len()), (0, 1));
    let Action::Create(object) = &created.creations[0].action else { panic!() };
    insta::assert_json_snapshot!(object);
}

#[test]
fn an_api_of_another_owner_is_not_written() {
    let mut observed = mk_observed();
    observed.api_services.insert("v1.g".to_owned(), mk_service("other", b""));
    let error = writes(&observed.serving_csv(), &BTreeMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "pre-existing APIService v1.g is not adoptable");
}

#[test]
fn an_api_that_the_csv_does_not_name_any_more_goes() {
    let mut observed = mk_observed();
    let service = mk_service("csv", b"");
    observed.serving.labelled_api_services = vec![service];
    assert!(removed(&observed.serving_csv()).is_empty());
    let mut csv = mk_csv();
    csv.spec.apiservicedefinitions = None;
    observed.csv = Arc::new(csv);
    assert_eq!(removed(&observed.serving_csv())[0].target.to_string(), "APIService v1.g");
}

#[test]
fn a_new_api_gets_the_annotations_of_the_subscription() {
    let mut observed = mk_observed();
    let config = json!({"annotations": {"a": "b"}});
    observed.overrides = Overrides::new(Some(&config), &ProxySettings::default());
    let updated = writes(&observed.serving_csv(), &BTreeMap::new()).unwrap();
    let Action::MergePatch { patch, .. } = &updated.updates[0].action else { panic!() };
    assert_eq!(patch["metadata"].get("annotations"), None, "one that is there keeps its own");
    observed.api_services.clear();
    let created = writes(&observed.serving_csv(), &BTreeMap::new()).unwrap();
    let Action::Create(object) = &created.creations[0].action else { panic!() };
    assert_eq!(object["metadata"]["annotations"], json!({"a": "b"}));
}

/// An API service whose CSV is gone, and which no CSV names.
fn mk_orphan(service: Arc<APIService>) -> Provided {
    Provided { service, owner: None, named_by: Vec::new() }
}

#[rstest]
#[case::gone(|_: &mut Provided| {}, true)]
#[case::present(|o: &mut Provided| o.owner = Some(Arc::new(mk_csv())), false)]
#[case::gone_but_another_csv_has_the_api(
    |o: &mut Provided| o.named_by = vec![Arc::new(mk_csv())], false)]
#[case::gone_and_another_csv_requires_the_api(
    |o: &mut Provided| {
        let mut csv = mk_csv();
        let apis = csv.spec.apiservicedefinitions.as_mut().unwrap();
        apis.required = std::mem::take(&mut apis.owned);
        o.named_by = vec![Arc::new(csv)];
    }, true)]
fn an_orphan_goes(#[case] change: fn(&mut Provided), #[case] expected: bool) {
    let mut observed = mk_orphan(mk_service("csv", b""));
    change(&mut observed);
    assert_eq!(orphan(&observed).is_some(), expected);
}

#[rstest]
#[case::no_owner(json!({"name": "v1.g"}))]
#[case::another_kind(json!({"name": "v1.g", "labels": {
    "olm.owner": "og", "olm.owner.namespace": "ns", "olm.owner.kind": "OperatorGroup",
}}))]
#[case::going(json!({"name": "v1.g", "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {
    "olm.owner": "csv", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
}}))]
fn what_is_no_csvs_is_no_orphan(#[case] metadata: Value) {
    assert_eq!(orphan(&mk_orphan(mk(json!({"metadata": metadata})))), None);
}
