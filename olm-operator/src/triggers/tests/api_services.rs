//! API services whose CSV is gone, and what their servers need in `kube-system`.

use k8s_openapi::api::rbac::v1::RoleBinding;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_lifecycle::api_service::orphan;

use super::*;
use crate::controllers::api_service::observe;

/// An API service of CSV `b`, and one whose CSV never existed.
fn mk_services() -> [APIService; 2] {
    [("v1.b", "b"), ("v1.x", "x")]
        .map(|(name, owner)| mk(json!({"metadata": {"name": name, "labels": labels_of(owner)}})))
}

#[tokio::test]
async fn an_api_service_is_rechecked_when_it_appears_and_when_its_csv_goes() {
    let mut triggers = mk_triggers();
    let [of_b, of_none] = mk_services();
    triggers.stores.api_services = Store::with_objects(mk_services());
    triggers.api_service(&added(of_none));
    let queued = &triggers.queues.api_services;
    assert_eq!(queued.next().await, "v1.x");
    triggers.csv(&removed(mk_csv("b", Some("a"), "")));
    assert_eq!(queued.next().await, of_b.metadata.name.unwrap());
    assert!(queued.is_empty());
}

#[test]
fn an_orphan_is_left_to_a_csv_that_has_its_api() {
    let mut triggers = mk_triggers();
    triggers.stores.api_services = Store::with_objects(mk_services());
    let deletion = |it: &Triggers, name: &str| {
        observe(&it.stores, &it.dependents, name).as_ref().and_then(orphan).is_some()
    };
    assert!(!deletion(&triggers, "v1.b"), "its CSV is there");
    assert!(deletion(&triggers, "v1.x"));
    let provider: ClusterServiceVersion = mk(json!({
        "metadata": {"name": "provider", "namespace": "elsewhere"},
        "spec": {"apiservicedefinitions": {"owned": [{"group": "x", "version": "v1", "kind": "X"}]}},
    }));
    triggers.dependents.update(None, Some(&provider));
    triggers.stores.csvs = Store::with_objects([provider]);
    assert!(!deletion(&triggers, "v1.x"));
}

/// A binding of server `d` for account `sa` of a namespace.
fn mk_reader(name: &str, namespace: &str, home: &str) -> RoleBinding {
    mk(json!({
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": "", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": home}],
    }))
}

#[rstest]
#[case::its_own("d-service-auth-reader", "kube-system", "ns", "server")]
#[case::of_another_server("e-service-auth-reader", "kube-system", "ns", "")]
#[case::of_another_namespace("d-service-auth-reader", "kube-system", "far", "")]
#[case::somewhere_else("d-service-auth-reader", "elsewhere", "ns", "")]
#[tokio::test]
async fn a_reader_wakes_the_csv_of_its_server(
    #[case] name: &str,
    #[case] namespace: &str,
    #[case] home: &str,
    #[case] expected: &str,
) {
    let mut triggers = mk_triggers();
    let deployment = json!({"name": "d", "spec": {"selector": {}, "template": {}}});
    let api = json!({"group": "g", "version": "v1", "kind": "K", "deploymentName": "d"});
    let server: ClusterServiceVersion = mk(json!({
        "metadata": {"name": "server", "namespace": "ns"},
        "spec": {
            "apiservicedefinitions": {"owned": [api]},
            "install": {"strategy": "deployment", "spec": {"deployments": [deployment]}},
        },
    }));
    triggers.stores.csvs = Store::with_objects([server]);
    triggers.role_binding(&removed(mk_reader(name, namespace, home)));
    assert_eq!(woken(&triggers).await, expected);
}
