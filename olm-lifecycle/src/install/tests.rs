//! Spec olm-operator 3.3, 3.4, 8.23 and the golden hash of section 9.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::{ClusterServiceVersion, StrategyDeploymentSpec};
use olm_types::hash;
use rstest::rstest;
use serde_json::{Value, json};

fn mk_csv() -> ClusterServiceVersion {
    serde_json::from_value(json!({
        "metadata": {
            "name": "a", "namespace": "ns", "uid": "u",
            "annotations": {"olm.targetNamespaces": "ns", "shared": "csv"},
        },
        "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [
            {"name": "dep", "label": {"custom": "x"}, "spec": mk_spec()},
        ]}}},
    }))
    .unwrap()
}

fn mk_spec() -> Value {
    json!({
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": {"app": "d"}},
        "template": {
            "metadata": {"labels": {"app": "d"}, "annotations": {"own": "y", "shared": "template"}},
            "spec": {
                "initContainers": [{"name": "init", "image": "i"}],
                "containers": [
                    {"name": "c1", "image": "i", "env": [
                        {"name": "OPERATOR_CONDITION_NAME", "value": "old"},
                        {"name": "B", "value": "b"},
                    ]},
                    {"name": "c2", "image": "i", "future": {"field": 1}},
                ],
            },
        },
    })
}

fn entry(csv: &ClusterServiceVersion) -> &StrategyDeploymentSpec {
    &csv.spec.install.spec.as_ref().unwrap().deployments[0]
}

#[test]
fn the_golden_spec_hash() {
    let text = concat!(
        r#"{"replicas":1,"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"#,
        r#""labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"i<&>","resources":{}}],"#,
        r#""serviceAccountName":"sa"}},"strategy":{},"revisionHistoryLimit":1}"#
    );
    let spec: Value = serde_json::from_str(text).unwrap();
    let encoded = hash::go_json::encode("apps/v1.DeploymentSpec", &spec).unwrap();
    assert_eq!(hash::deep_hash(&encoded), "2WWGyIRXLLYo758wAnerR0Cv1b6CoWGQpoyzLR");
}

#[test]
fn the_deployment_is_complete() {
    let csv = mk_csv();
    let object = desired_deployment(&csv, entry(&csv), &Overrides::default()).unwrap();
    insta::assert_json_snapshot!(object);
}

/// A sync of a tool rolls out nothing; what the author of the bundle wrote into the template stays.
#[test]
fn what_tracks_the_csv_does_not_track_its_pods() {
    let mut csv = mk_csv();
    let tracking = [
        "argocd.argoproj.io/tracking-id",
        "kustomize.toolkit.fluxcd.io/checksum",
        "meta.helm.sh/release-name",
    ];
    let annotations = csv.metadata.annotations.as_mut().unwrap();
    annotations.extend(tracking.map(|key| (key.to_owned(), "shop".to_owned())));
    csv.metadata.labels =
        Some([("app.kubernetes.io/instance".to_owned(), "shop".to_owned())].into());
    let untracked = desired_deployment(&mk_csv(), entry(&mk_csv()), &Overrides::default());
    let tracked = desired_deployment(&csv, entry(&csv), &Overrides::default());
    assert_eq!(tracked, untracked);

    let mut written = entry(&csv).clone();
    written.spec.change(|spec| {
        spec["template"]["metadata"]["annotations"][tracking[2]] = json!("own");
    });
    let object = desired_deployment(&csv, &written, &Overrides::default()).unwrap();
    let found = &object["spec"]["template"]["metadata"]["annotations"];
    let expected = json!({tracking[2]: "own", "own": "y", "shared": "csv",
        "olm.targetNamespaces": "ns"});
    assert_eq!(*found, expected);
}

/// What an install leaves is what the check expects, whatever annotations the CSV has: else a CSV would be
/// installed again and again.
#[rstest]
#[case::as_the_author_has_it(&[])]
#[case::with_one_more(&["example.com/more"])]
#[case::tracked_by_tools(&["argocd.argoproj.io/tracking-id", "meta.helm.sh/release-name"])]
#[case::both(&["example.com/more", "kustomize.toolkit.fluxcd.io/checksum"])]
fn an_installed_deployment_is_up_to_date(#[case] more: &[&str]) {
    let mut csv = mk_csv();
    let more = more.iter().map(|key| ((*key).to_owned(), "shop".to_owned()));
    csv.metadata.annotations.as_mut().unwrap().extend(more);
    let mut object = desired_deployment(&csv, entry(&csv), &Overrides::default()).unwrap();
    object["status"] = json!({"conditions": [{"type": "Available", "status": "True"}]});
    let deployment: Deployment = serde_json::from_value(object).unwrap();
    let deployments = BTreeMap::from([("dep".to_owned(), Arc::new(deployment))]);
    assert_eq!(check_installed(&csv, &Overrides::default(), &deployments), Ok(Ok(())));
}

#[test]
fn another_strategy_is_no_strategy() {
    let mut csv = mk_csv();
    csv.spec.install.strategy = "helm".to_owned();
    assert_eq!(strategy(&csv.spec), Err(StrategyError::Unrecognized));
    assert_eq!(
        check_installed(&csv, &Overrides::default(), &BTreeMap::new()),
        Err(StrategyError::Unrecognized)
    );
}

#[test]
fn a_strategy_without_deployments_is_installed() {
    let mut csv = mk_csv();
    csv.spec.install.spec = None;
    assert_eq!(check_installed(&csv, &Overrides::default(), &BTreeMap::new()), Ok(Ok(())));
}

#[test]
fn orphans_are_ours_by_label_and_by_reference() {
    let csv = mk_csv();
    let object = desired_deployment(&csv, entry(&csv), &Overrides::default()).unwrap();
    let mk = |name: &str, change: fn(&mut Value)| {
        let mut object = object.clone();
        object["metadata"]["name"] = json!(name);
        change(&mut object);
        (name.to_owned(), Arc::new(serde_json::from_value::<Deployment>(object).unwrap()))
    };
    let deployments = BTreeMap::from([
        mk("dep", |_| {}),
        mk("orphan", |_| {}),
        mk("unlabelled", |object| object["metadata"]["labels"] = json!({})),
        mk("unreferenced", |object| object["metadata"]["ownerReferences"] = json!([])),
    ]);
    let found = orphans(&csv, strategy(&csv.spec).unwrap(), &deployments);
    let names: Vec<&str> = found.iter().map(|effect| effect.target.name.as_str()).collect();
    assert_eq!(names, ["orphan"]);
}
