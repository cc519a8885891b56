//! Objects that are being deleted while a plan brings them: they are awaited and created anew.

use super::*;

const RBAC: &str = "rbac.authorization.k8s.io";
const OLM: &str = "operators.coreos.com";

/// Marks an object as being deleted and held by a finalizer.
fn delete(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    object["metadata"]["finalizers"] = json!(["example.com/held"]);
}

fn held(kind: &str, name: &str) -> String {
    format!(
        "{kind} {name} is being deleted and has to be gone before it can be created; finalizers hold \
         it: example.com/held"
    )
}

fn thing(api_version: &str, kind: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "thing"}})
}

#[rstest]
#[case::csv(step(OLM, "ClusterServiceVersion", named("thing")), "ClusterServiceVersion")]
#[case::subscription(step(OLM, "Subscription", named("thing")), "Subscription")]
#[case::account(core("ServiceAccount", named("thing")), "ServiceAccount")]
#[case::role(step(RBAC, "Role", named("thing")), "Role")]
#[case::binding(step(RBAC, "RoleBinding", named("thing")), "RoleBinding")]
#[case::cluster_role(step(RBAC, "ClusterRole", named("thing")), "ClusterRole")]
#[case::cluster_binding(step(RBAC, "ClusterRoleBinding", named("thing")), "ClusterRoleBinding")]
#[case::service(core("Service", named("thing")), "Service")]
#[case::config_map(core("ConfigMap", named("thing")), "ConfigMap")]
#[case::bundle_secret(core("BundleSecret", named("thing")), "Secret")]
#[case::pull_secret(core("Secret", named("thing")), "Secret")]
#[case::policy(
    step("networking.k8s.io", "NetworkPolicy", thing("networking.k8s.io/v1", "NetworkPolicy")),
    "NetworkPolicy"
)]
#[case::class(
    step("scheduling.k8s.io", "PriorityClass", thing("scheduling.k8s.io/v1", "PriorityClass")),
    "PriorityClass"
)]
fn every_kind_is_awaited_and_created_anew(#[case] step: Step, #[case] kind: &str) {
    let mut cluster = Cluster::default();
    let source = json!({"data": {}, "type": "kubernetes.io/dockerconfigjson"});
    cluster.put("Secret", Some("olm"), "thing", source);
    let reported = held(&step.resource.kind, "thing");
    let steps = [csv_step(), step];
    assert_eq!(execute(&mut cluster, &steps), (vec![StepStatus::Created; 2], None));
    cluster.change(kind, "thing", delete);
    let before = cluster.get(kind, "thing").clone();
    let (statuses, error) = execute(&mut cluster, &steps);
    assert_eq!(statuses, [StepStatus::Present, StepStatus::Unknown]);
    assert_eq!(error, Some(reported));
    assert_eq!(cluster.get(kind, "thing"), &before, "what goes is not written");
    cluster.objects.retain(|_, object| object["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present, StepStatus::Created]);
}

#[test]
fn a_crd_that_is_being_deleted_is_awaited() {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[crd("v1")]);
    cluster.change("CustomResourceDefinition", "things.example.com", delete);
    let reported = held("CustomResourceDefinition", "things.example.com");
    let done = execute(&mut cluster, &[crd("v2")]);
    assert_eq!(done, (vec![StepStatus::Unknown], Some(reported)));
    cluster.objects.clear();
    assert_eq!(execute(&mut cluster, &[crd("v2")]).0, [StepStatus::WaitingForApi]);
}

/// A definition is served until it is gone.
#[test]
fn a_crd_that_goes_before_it_is_served_is_awaited() {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[crd("v1")]);
    cluster.change("CustomResourceDefinition", "things.example.com", |object| {
        object["status"]["conditions"] =
            json!([{"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"}]);
        delete(object);
    });
    let reported = held("CustomResourceDefinition", "things.example.com");
    let waiting = [crd_with(StepStatus::WaitingForApi)];
    assert_eq!(
        execute(&mut cluster, &waiting),
        (waiting.map(|step| step.status).into(), Some(reported))
    );
}

/// It was read before its deletion began, and changed afterwards: a patch goes through, what replaces
/// the object meets a conflict.
#[rstest]
#[case::patched(core("ConfigMap", json!({"metadata": {"name": "thing"}, "data": {"a": "2"}})), "ConfigMap", "thing")]
#[case::replaced(crd("v2"), "CustomResourceDefinition", "things.example.com")]
fn a_deletion_that_begins_meanwhile_is_noticed(
    #[case] step: Step,
    #[case] kind: &'static str,
    #[case] name: &str,
) {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[csv_step(), core("ConfigMap", named("thing")), crd("v1")]);
    (cluster.deletes_after_read, cluster.conflicts) = (Some(kind), 1);
    let (statuses, error) = execute(&mut cluster, &[csv_step(), step]);
    assert_eq!((statuses[1], error), (StepStatus::Unknown, Some(held(kind, name))));
}

/// It was there when it was to be created, and gone when it was read.
#[test]
fn an_object_that_goes_meanwhile_is_created() {
    let mut cluster = Cluster::default();
    let steps = [csv_step(), core("ConfigMap", named("thing"))];
    execute(&mut cluster, &steps);
    cluster.goes_before_read = Some("ConfigMap");
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present, StepStatus::Created]);
    assert_eq!(cluster.get("ConfigMap", "thing")["metadata"]["ownerReferences"], json!([owner()]));
}

/// An object without an owner that goes is no object that was taken over.
#[test]
fn what_goes_is_not_taken_over() {
    let mut cluster = Cluster::default();
    let mut theirs = json!({"metadata": {"name": "thing"}, "data": {"theirs": "1"}});
    delete(&mut theirs);
    cluster.put("ConfigMap", Some("ns"), "thing", theirs);
    let ended = run(&mut cluster, scope(), &[csv_step(), core("ConfigMap", named("thing"))]);
    assert!(ended.failure.is_some() && ended.notes.is_empty(), "{:?}", ended.notes);
}
