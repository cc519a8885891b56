//! CSVs with webhooks and owned API services: their rows of spec olm-operator 8.1 and 8.3.

use k8s_openapi::api::core::v1::Secret;
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::*;
use super::world::World;

pub(super) const SECRET: &str = "csv-dep-service-cert";

/// A CSV that serves an API and a validating webhook with its Deployment.
fn mk_serving(phase: &str, reason: &str) -> Value {
    let mut csv = mk_csv_in("csv", phase, reason);
    csv["spec"]["apiservicedefinitions"] = json!({"owned": [{
        "name": "as", "group": "a.g", "version": "v1", "kind": "A", "deploymentName": "csv-dep",
    }]});
    csv["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "csv-dep", "containerPort": 443, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }]);
    csv
}

/// The CSV, ready to be installed, in a group that knows its API.
fn mk_world() -> World {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": "A.v1.a.g"});
    });
    world.put(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}}));
    world.put(mk_serving("InstallReady", "AllRequirementsMet"));
    world
}

/// The API server finds what serves the API.
pub(super) fn become_available(world: &mut World) {
    world.set_available("csv-dep", "True", "");
    world.put(json!({"kind": "Served", "metadata": {"name": "A.v1.a.g"}}));
    set_api_available(world, "True");
}

fn set_api_available(world: &mut World, status: &str) {
    world.edit("APIService", "v1.a.g", |service| {
        service["status"]["conditions"] = json!([{"type": "Available", "status": status}]);
    });
}

pub(super) fn installed() -> World {
    let mut world = mk_world();
    assert!(world.next("csv").starts_with("Installing/InstallSucceeded"));
    become_available(&mut world);
    assert!(world.next("csv").starts_with("Succeeded/InstallSucceeded"));
    // Users get roles for the API, then the status lists the requirements.
    assert!(world.next("csv").starts_with("Succeeded/InstallSucceeded"));
    assert!(world.next("csv").starts_with("Succeeded/InstallSucceeded"));
    world
}

pub(super) fn secret(world: &World) -> Secret {
    serde_json::from_value(world.get("Secret", SECRET).unwrap().clone()).unwrap()
}

#[test]
fn an_install_leaves_everything_that_serving_takes() {
    let world = installed();
    let kinds = [
        ("Service", "csv-dep-service"),
        ("Secret", SECRET),
        ("Role", SECRET),
        ("RoleBinding", SECRET),
        ("RoleBinding", "csv-dep-service-auth-reader"),
        ("ClusterRoleBinding", "csv-dep-service-system:auth-delegator"),
        ("APIService", "v1.a.g"),
    ];
    for (kind, name) in kinds {
        assert!(world.get(kind, name).is_some(), "{kind} {name}");
    }
    let status = &world.get("ClusterServiceVersion", "csv").unwrap()["status"];
    assert_eq!(status["certsLastUpdated"], "2026-01-01T00:00:01Z");
    assert_eq!(status["certsRotateAt"], "2027-12-31T00:00:01Z");
}

#[test]
fn a_pass_over_what_is_well_writes_nothing() {
    let mut world = installed();
    let before = world.get("ClusterServiceVersion", "csv").unwrap().clone();
    let decision = world.sync("csv");
    assert!(decision.effects.is_empty(), "{:?}", decision.effects);
    assert_eq!(world.get("ClusterServiceVersion", "csv"), Some(&before));
    assert!(decision.requeue_at.is_some(), "certificates are looked at without an event");
}

#[test]
fn a_valid_secret_is_used_as_it_is() {
    let mut world = installed();
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["status"] = json!({"phase": "InstallReady", "reason": "AllRequirementsMet"});
    });
    let before = secret(&world).data;
    assert!(world.next("csv").starts_with("Installing/InstallSucceeded"));
    assert_eq!(secret(&world).data, before);
    let status = &world.get("ClusterServiceVersion", "csv").unwrap()["status"];
    assert_eq!(status.get("certsLastUpdated"), None);
}

#[rstest]
#[case::not_installed("Installing", "Installing/InstallWaiting apiServices not installed")]
#[case::lost("Succeeded", "Failed/ComponentUnhealthy apiServices not installed")]
#[case::still_lost("Failed", "Pending/NeedsReinstall apiServices not installed")]
fn an_api_that_is_not_available(#[case] phase: &str, #[case] expected: &str) {
    let mut world = installed();
    set_api_available(&mut world, "False");
    set_phase(&mut world, phase);
    assert_eq!(world.next("csv"), expected);
}

pub(super) fn set_phase(world: &mut World, phase: &str) {
    let now = world.now.to_string();
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["status"]["phase"] = json!(phase);
        csv["status"]["lastTransitionTime"] = json!(now);
    });
}

#[rstest]
#[case::secret("Secret", SECRET, "secret \"csv-dep-service-cert\" not found")]
#[case::service("Service", "csv-dep-service", "service \"csv-dep-service\" not found")]
#[case::account("ServiceAccount", "sa", "serviceaccount \"sa\" not found")]
#[case::role("Role", SECRET, "role.rbac.authorization.k8s.io \"csv-dep-service-cert\" not found")]
#[case::binding(
    "RoleBinding",
    SECRET,
    "rolebinding.rbac.authorization.k8s.io \"csv-dep-service-cert\" not found"
)]
#[case::reader(
    "RoleBinding",
    "csv-dep-service-auth-reader",
    "rolebinding.rbac.authorization.k8s.io \"csv-dep-service-auth-reader\" not found"
)]
#[case::delegator(
    "ClusterRoleBinding",
    "csv-dep-service-system:auth-delegator",
    "clusterrolebinding.rbac.authorization.k8s.io \"csv-dep-service-system:auth-delegator\" not \
     found"
)]
#[case::deployment("Deployment", "csv-dep", "deployment.apps \"csv-dep\" not found")]
#[case::api_service(
    "APIService",
    "v1.a.g",
    "apiservice.apiregistration.k8s.io \"v1.a.g\" not found"
)]
fn what_was_deleted_is_named_and_installed_again(
    #[case] kind: &str,
    #[case] name: &str,
    #[case] text: &str,
) {
    let mut world = installed();
    world.remove(kind, name);
    assert_eq!(world.next("csv"), format!("Failed/APIServiceResourceIssue {text}"));
    let reinstall = format!("Pending/APIServiceResourcesNeedReinstall {text}");
    assert_eq!(world.next("csv"), reinstall);
    if kind == "ServiceAccount" {
        return;
    }
    assert!(world.next("csv").starts_with("InstallReady/"));
    assert!(world.next("csv").starts_with("Installing/"));
    become_available(&mut world);
    assert!(world.next("csv").starts_with("Succeeded/"));
    assert!(world.get(kind, name).is_some());
}

#[test]
fn an_api_of_another_owner_is_an_owner_conflict_that_stays() {
    let mut world = mk_world();
    set_phase(&mut world, "Pending");
    world.put(json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.a.g", "labels": {}},
    }));
    let expected = "Failed/OwnerConflict unable to adopt APIService";
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.next("csv"), expected);
    world.remove("APIService", "v1.a.g");
    let state = world.next("csv");
    assert!(state.starts_with("Pending/APIServiceResourcesNeedReinstall"), "{state}");
}

#[test]
fn a_foreign_owner_of_an_installed_api_stops_everything() {
    let mut world = installed();
    world.edit("APIService", "v1.a.g", |service| {
        service["metadata"]["labels"]["olm.owner"] = json!("other");
    });
    let expected = "Failed/APIServiceResourceIssue v1.a.g is unadoptable";
    assert_eq!(world.next("csv"), expected);
    assert_eq!(world.next("csv"), expected);
}

#[test]
fn a_webhook_that_is_not_described_any_more_goes() {
    let mut world = installed();
    world.edit("ClusterServiceVersion", "csv", |csv| csv["spec"]["webhookdefinitions"] = json!([]));
    world.next("csv");
    assert!(world.every("ValidatingWebhookConfiguration").is_empty());
}

#[test]
fn a_webhook_that_was_deleted_is_installed_again() {
    let mut world = installed();
    let webhook = world.the_only("ValidatingWebhookConfiguration")["metadata"]["name"].clone();
    world.remove("ValidatingWebhookConfiguration", webhook.as_str().unwrap());
    assert_eq!(world.next("csv"), "Pending/NeedsReinstall calculated deployment install is bad");
    world.next("csv");
    world.next("csv");
    assert!(!world.every("ValidatingWebhookConfiguration").is_empty());
}

/// v0 looks after the Services of API services alone.
#[test]
fn the_service_of_a_webhook_that_was_deleted_is_installed_again() {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "InstallReady", "AllRequirementsMet");
    csv["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "csv-dep", "containerPort": 443, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }]);
    world.put(csv);
    assert!(world.next("csv").starts_with("Installing/"));
    world.set_available("csv-dep", "True", "");
    assert!(world.next("csv").starts_with("Succeeded/"));
    world.remove("Service", "csv-dep-service");
    assert_eq!(world.next("csv"), "Pending/NeedsReinstall calculated deployment install is bad");
    assert!(world.next("csv").starts_with("InstallReady/"));
    assert!(world.next("csv").starts_with("Installing/"));
    assert!(world.get("Service", "csv-dep-service").is_some());
}

#[test]
fn a_conversion_for_some_namespaces_fails_the_install() {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "InstallReady", "AllRequirementsMet");
    csv["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ConversionWebhook", "deploymentName": "csv-dep",
        "conversionCRDs": ["things.g"], "sideEffects": "None", "admissionReviewVersions": ["v1"],
    }]);
    world.put(csv);
    assert_eq!(
        world.next("csv"),
        "Failed/InstallComponentFailed install strategy failed: unable to manage conversion \
         webhook: CSVs with conversion webhooks must support only AllNamespaces"
    );
}

#[test]
fn an_install_without_the_right_to_make_an_api_waits_for_it() {
    let mut world = mk_world();
    let refusal = |code, reason: &str| olm_effect::Refusal {
        code,
        reason: reason.to_owned(),
        message: "no".to_owned(),
    };
    world.refuse = Some(("APIService", refusal(403, "Forbidden")));
    let expected = "Failed/InstallComponentFailedNoRetry install strategy failed: install \
                    strategy failed: no";
    assert_eq!(world.next("csv"), expected);
    let mut world = mk_world();
    world.refuse = Some(("Secret", refusal(403, "Forbidden")));
    let expected = "Failed/InstallComponentFailed install strategy failed: no";
    assert_eq!(world.next("csv"), expected);
}

#[test]
fn a_refused_api_is_not_asked_for_without_a_pause() {
    let mut world = mk_world();
    let refusal =
        olm_effect::Refusal { code: 422, reason: "Invalid".to_owned(), message: "no".to_owned() };
    world.refuse = Some(("APIService", refusal));
    assert!(world.next("csv").starts_with("Failed/InstallComponentFailed"));
    let decision = world.sync("csv");
    assert!(decision.requeue_at.is_some() && decision.status.phase.is_none(), "{decision:?}");
}

#[test]
fn what_has_no_owner_reference_goes_with_the_csv() {
    let mut world = installed();
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["metadata"]["deletionTimestamp"] = json!("2026-01-02T00:00:00Z");
    });
    world.sync("csv");
    assert!(world.every("ValidatingWebhookConfiguration").is_empty());
    assert_eq!(world.get("APIService", "v1.a.g"), None);
}

/// As when a node is drained. v0 has this rule, and never sees a Pod.
#[test]
fn an_api_that_is_away_while_pods_are_replaced_is_no_failure() {
    let mut world = installed();
    world.edit("Deployment", "csv-dep", |deployment| {
        deployment["status"]["unavailableReplicas"] = json!(1);
    });
    set_api_available(&mut world, "False");
    let created = world.now.to_string();
    world.put(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "new", "creationTimestamp": created}, "status": {"phase": "Pending"},
    }));
    assert!(world.next("csv").starts_with("Succeeded/InstallSucceeded"));
    let due = world.sync("csv").requeue_at.unwrap();
    assert_eq!(due.duration_since(world.now).as_secs(), 10);
    world.sleep(600);
    assert_eq!(world.next("csv"), "Failed/ComponentUnhealthy apiServices not installed");
}
