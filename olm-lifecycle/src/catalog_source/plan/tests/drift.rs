//! What becomes of objects that other clients changed, removed or added.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::super::observed::Present;
use super::EVERYTHING;
use super::world::{NOW, of_config_map, of_image};

/// What another client changed or removed is put right, and nothing else is touched.
#[rstest]
#[case::service_hash("Service", "img-catalog", json!({"metadata": {"labels": {"olm.service-spec-hash": "x"}}}), &["patch Service img-catalog"])]
#[case::service_selector("Service", "img-catalog", json!({"spec": {"selector": {"app": "mine"}}}), &["patch Service img-catalog"])]
#[case::service_port("Service", "img-catalog", json!({"spec": {"ports": [{"name": "grpc", "port": 1, "targetPort": 1}]}}), &["patch Service img-catalog"])]
#[case::service_owner("Service", "img-catalog", json!({"metadata": {"ownerReferences": null}}), &["patch Service img-catalog"])]
#[case::policy_labels("NetworkPolicy", "img-catalog-grpc-server", json!({"metadata": {"labels": {"olm.catalogSource": "x"}}}), &["patch NetworkPolicy img-catalog-grpc-server"])]
#[case::policy_spec("NetworkPolicy", "img-catalog-unpack-bundles", json!({"spec": {"egress": null, "ingress": [{}]}}), &["patch NetworkPolicy img-catalog-unpack-bundles"])]
#[case::account_owner("ServiceAccount", "img-catalog", json!({"metadata": {"ownerReferences": null}}), &["patch ServiceAccount img-catalog"])]
#[case::pod_hash("Pod", "img-catalog-4", json!({"metadata": {"labels": {"olm.pod-spec-hash": "x"}}}), &["delete Pod img-catalog-4", "create Pod "])]
#[case::pod_without_managed_label("Pod", "img-catalog-4", json!({"metadata": {"labels": {"olm.managed": null}}}), &["apply Pod img-catalog-4"])]
#[case::pod_of_an_old_image("Pod", "img-catalog-4", json!({"spec": {"containers": [{"name": "registry-server", "image": "old"}]}}), &["delete Pod img-catalog-4", "create Pod "])]
#[case::pod_evicted("Pod", "img-catalog-4", json!({"status": {"phase": "Failed", "reason": "Evicted"}}), &["force delete Pod img-catalog-4", "create Pod "])]
#[case::pod_on_a_lost_node("Pod", "img-catalog-4", json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}}), &["force delete Pod img-catalog-4", "create Pod "])]
#[case::pod_deleted("Pod", "img-catalog-4", json!({"metadata": {"deletionTimestamp": NOW}}), &["create Pod "])]
fn drift(#[case] kind: &str, #[case] name: &str, #[case] change: Value, #[case] expected: &[&str]) {
    let mut world = of_image();
    world.converge();
    world.change(kind, name, change);
    assert_eq!(world.converge(), expected);
}

#[rstest]
#[case::role("Role", "img-catalog-configmap-reader", json!({"rules": []}), &["patch Role img-catalog-configmap-reader"])]
#[case::binding("RoleBinding", "img-catalog-server-configmap-reader", json!({"subjects": []}), &["patch RoleBinding img-catalog-server-configmap-reader"])]
#[case::other_role("RoleBinding", "img-catalog-server-configmap-reader", json!({"roleRef": {"name": "x"}}),
    &["delete RoleBinding img-catalog-server-configmap-reader", "create RoleBinding img-catalog-server-configmap-reader"])]
fn drift_of_rights(
    #[case] kind: &str,
    #[case] name: &str,
    #[case] change: Value,
    #[case] expected: &[&str],
) {
    let mut world = of_config_map();
    world.converge();
    world.change(kind, name, change);
    assert_eq!(world.converge(), expected);
}

#[test]
fn what_others_added_stays() {
    let mut world = of_image();
    world.converge();
    world.change("Service", "img-catalog", json!({
        "metadata": {"annotations": {"a": "b"}, "labels": {"theirs": "1"}},
        "spec": {"clusterIP": "10.0.0.1", "type": "ClusterIP", "ports": [{"name": "grpc", "port": 50051, "targetPort": 50051, "protocol": "TCP"}]},
    }));
    assert!(world.converge().is_empty());
}

#[test]
fn what_is_deleted_comes_back() {
    let mut world = of_image();
    world.converge();
    let secrets = world.observed.server.account.clone();
    world.observed.server = Present { account: secrets, ..Present::default() };
    assert_eq!(world.converge().len(), EVERYTHING.len() - 1);
}

#[test]
fn another_image_or_secret_gets_another_pod() {
    let mut world = of_image();
    world.converge();
    world.set_spec(json!({"image": "quay.io/a/catalog:v2"}));
    assert_eq!(world.converge(), ["delete Pod img-catalog-4", "create Pod "]);
    world.set_spec(json!({"secrets": ["pull"]}));
    assert_eq!(world.writes(), ["patch ServiceAccount img-catalog"]);
    assert_eq!(world.converge(), ["delete Pod img-catalog-6", "create Pod "]);
}

#[test]
fn of_two_pods_the_newer_one_stays() {
    let mut world = of_image();
    world.converge();
    let mut twin = world.get("Pod", "img-catalog-4");
    twin["metadata"]["name"] = json!("img-catalog-x");
    twin["metadata"]["creationTimestamp"] = json!("2026-01-01T12:00:01Z");
    world.put("Pod", twin);
    assert_eq!(world.converge(), ["delete Pod img-catalog-4"]);
}

#[test]
fn an_account_of_another_owner_is_used_as_it_is() {
    let mut world = of_image();
    let account = json!({"metadata": {"name": "img-catalog", "namespace": "ns"}, "imagePullSecrets": [{"name": "theirs"}]});
    world.put("ServiceAccount", account);
    assert!(!world.converge().iter().any(|write| write.contains("ServiceAccount")));
    let pod = &world.observed.server.pods[0];
    let secrets = pod.spec.as_ref().unwrap().image_pull_secrets.as_ref().unwrap();
    assert_eq!(secrets[0].name, "theirs");
}
