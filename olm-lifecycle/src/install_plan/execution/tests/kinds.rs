//! Kinds that are looked up, APIs that are absent, CSVs that would own what another one owns.

use super::*;

fn manifest(api_version: &str, kind: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "thing"}, "spec": {"a": 1}})
}

#[rstest]
#[case("monitoring.coreos.com", "PrometheusRule")]
#[case("monitoring.coreos.com", "ServiceMonitor")]
#[case("policy", "PodDisruptionBudget")]
#[case("networking.k8s.io", "NetworkPolicy")]
#[case("autoscaling.k8s.io", "VerticalPodAutoscaler")]
#[case("console.openshift.io", "ConsoleYAMLSample")]
#[case("console.openshift.io", "ConsoleQuickStart")]
#[case("console.openshift.io", "ConsoleCLIDownload")]
#[case("console.openshift.io", "ConsoleLink")]
#[case("console.openshift.io", "ConsolePlugin")]
fn a_namespaced_kind_belongs_to_the_csv(#[case] group: &str, #[case] kind: &str) {
    let mut cluster = Cluster::default();
    let steps = [csv_step(), step(group, kind, manifest(&format!("{group}/v1"), kind))];
    assert_eq!(
        execute(&mut cluster, &steps),
        (vec![StepStatus::Created, StepStatus::Created], None)
    );
    assert_eq!(
        cluster.get(kind, "thing")["metadata"],
        json!({"name": "thing", "namespace": "ns", "uid": "uid-thing", "labels": {"olm.managed": "true"}, "ownerReferences": [owner()]})
    );
}

#[test]
fn a_cluster_scoped_kind_carries_owner_labels() {
    let mut cluster = Cluster::default();
    let class = manifest("scheduling.k8s.io/v1", "PriorityClass");
    execute(&mut cluster, &[step("scheduling.k8s.io", "PriorityClass", class)]);
    let labels = &cluster.get("PriorityClass", "thing")["metadata"]["labels"];
    let expected = json!({"olm.managed": "true", "olm.owner": "csv.v1", "olm.owner.namespace": "ns",
        "olm.owner.kind": "ClusterServiceVersion"});
    assert_eq!(labels, &expected);
}

#[test]
fn what_exists_is_replaced_as_a_whole() {
    let policy = |spec: Value| {
        let mut object = manifest("networking.k8s.io/v1", "NetworkPolicy");
        object["spec"] = spec;
        [csv_step(), step("networking.k8s.io", "NetworkPolicy", object)]
    };
    let mut cluster = Cluster::default();
    execute(&mut cluster, &policy(json!({"old": 1})));
    cluster
        .change("NetworkPolicy", "thing", |live| live["metadata"]["resourceVersion"] = json!("7"));
    assert_eq!(execute(&mut cluster, &policy(json!({"new": 1}))).0, [StepStatus::Present; 2]);
    let live = cluster.get("NetworkPolicy", "thing");
    assert_eq!(
        (&live["spec"], &live["metadata"]["resourceVersion"]),
        (&json!({"new": 1}), &json!("7"))
    );
}

#[rstest]
#[case::no_group(
    "monitoring.gone",
    "monitoring.gone/v1",
    "PrometheusRule",
    "api-server resource not found installing PrometheusRule thing: GroupVersionKind monitoring.gone/v1, \
     Kind=PrometheusRule not found on the cluster. This API may have been deprecated and removed, see \
     https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information."
)]
#[case::no_kind("policy", "policy/v1", "Tree", "Unable to find GVK in discovery: policy v1 Tree")]
fn an_api_that_is_not_served(
    #[case] group: &str,
    #[case] api_version: &str,
    #[case] kind: &str,
    #[case] text: &str,
) {
    let mut object = step(group, "PrometheusRule", manifest(api_version, kind));
    object.resource.kind = "PrometheusRule".to_owned();
    let (statuses, error) = execute(&mut Cluster::default(), &[object]);
    assert_eq!(
        (statuses.as_slice(), error.as_deref()),
        ([StepStatus::Unknown].as_slice(), Some(text))
    );
}

#[test]
fn an_absent_object_is_distinguished_from_an_absent_api() {
    let mut cluster = Cluster { absent: vec!["rbac.authorization.k8s.io"], ..Cluster::default() };
    let role = step("rbac.authorization.k8s.io", "ClusterRole", named("r"));
    let text = execute(&mut cluster, &[role]).1.unwrap();
    let start = "api-server resource not found installing ClusterRole r: GroupVersionKind \
        rbac.authorization.k8s.io/v1, Kind=ClusterRole not found on the cluster.";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn old_crds_have_no_api_in_new_clusters() {
    let mut cluster = Cluster { absent: vec!["apiextensions.k8s.io"], ..Cluster::default() };
    let mut old = crd("v1");
    let manifest = old.resource.manifest.as_deref().unwrap();
    old.resource.manifest = Some(manifest.replace("k8s.io/v1", "k8s.io/v1beta1"));
    old.resource.version = "v1beta1".to_owned();
    let text = execute(&mut cluster, &[old]).1.unwrap();
    assert!(
        text.contains("apiextensions.k8s.io/v1beta1, Kind=CustomResourceDefinition not found"),
        "{text}"
    );
}

/// The rows of v0's own test: a CSV called turkey that owns feathers.
#[rstest]
#[case::no_owner(&[], &["feathers"], None)]
#[case::itself(&[("feathers", "turkey")], &["feathers"], None)]
#[case::another(&[("feathers", "seagull")], &["feathers"],
    Some("pre-existing CRD owners found for owned CRD(s) of dependent CSV turkey"))]
#[case::another_of_one(&[("milk", "cow"), ("beak", "squid")], &["feathers", "beak"],
    Some("pre-existing CRD owners found for owned CRD(s) of dependent CSV turkey"))]
#[case::several(&[("feathers", "seagull"), ("feathers", "turkey")], &["feathers"],
    Some("error checking crd owners for: turkey: Existing CSVs [seagull turkey] in namespace ns all claim to own CRD feathers"))]
fn competing_owners(
    #[case] existing: &[(&str, &str)],
    #[case] owned: &[&str],
    #[case] text: Option<&str>,
) {
    let mut scope = scope();
    for (crd, csv) in existing {
        let owner = crate::crd::CrdOwner {
            namespace: "ns".to_owned(),
            name: (*csv).to_owned(),
            replaces: String::new(),
        };
        scope.crd_owners.entry((*crd).to_owned()).or_default().insert(owner);
    }
    let owned: Vec<_> =
        owned.iter().map(|name| json!({"name": name, "version": "v1", "kind": "K"})).collect();
    let csv = json!({"metadata": {"name": "turkey"}, "spec": {"customresourcedefinitions": {"owned": owned}}});
    let step = step("operators.coreos.com", "ClusterServiceVersion", csv);
    let ended = run(&mut Cluster::default(), scope.clone(), std::slice::from_ref(&step));
    assert_eq!(ended.failure.map(|error| error.to_string()).as_deref(), text);
    scope.wanted.insert("turkey".to_owned());
    assert!(run(&mut Cluster::default(), scope, &[step]).failure.is_none(), "the plan is for it");
}
