//! Objects of a bundle: whose they are, and what becomes of those that exist already.

use super::*;

#[rstest]
#[case::service("Service", "Service")]
#[case::config_map("ConfigMap", "ConfigMap")]
#[case::bundle_secret("BundleSecret", "Secret")]
fn objects_of_a_bundle_belong_to_its_csv(#[case] step_kind: &str, #[case] kind: &str) {
    let mut cluster = Cluster::default();
    let done = execute(&mut cluster, &[csv_step(), core(step_kind, named("thing"))]);
    assert_eq!(done, (vec![StepStatus::Created, StepStatus::Created], None));
    assert_eq!(
        cluster.get(kind, "thing")["metadata"],
        json!({"name": "thing", "namespace": "ns", "uid": "uid-thing", "labels": {"olm.managed": "true"}, "ownerReferences": [owner()]})
    );
}

/// As in a bundle that was made from a chart.
#[test]
fn what_is_created_has_what_its_manifest_says() {
    let labels = json!({"app.kubernetes.io/instance": "shop", "helm.sh/chart": "shop-1"});
    let annotations = json!({"argocd.argoproj.io/sync-wave": "1"});
    let written = |name: &str| json!({"metadata": {"name": name, "labels": labels, "annotations": annotations}});
    let csv = step("operators.coreos.com", "ClusterServiceVersion", written("csv.v1"));
    let mut cluster = Cluster::default();
    let done = execute(&mut cluster, &[csv, core("Service", written("thing"))]);
    assert_eq!(done, (vec![StepStatus::Created; 2], None));
    for (kind, name) in [("ClusterServiceVersion", "csv.v1"), ("Service", "thing")] {
        let metadata = &cluster.get(kind, name)["metadata"];
        assert_eq!(metadata["annotations"], annotations, "{kind}");
        assert_eq!(metadata["labels"]["app.kubernetes.io/instance"], "shop", "{kind}");
        assert_eq!(metadata["labels"]["helm.sh/chart"], "shop-1", "{kind}");
    }
}

#[test]
fn an_object_whose_csv_is_absent_is_refused() {
    let (statuses, error) = execute(&mut Cluster::default(), &[core("Service", named("thing"))]);
    assert_eq!(statuses, [StepStatus::Unknown]);
    assert_eq!(
        error.unwrap(),
        "error generating ownerrefs for service: thing: clusterserviceversions.operators.coreos.com \"csv.v1\" not found"
    );
}

#[test]
fn a_csv_and_a_subscription_are_created_and_then_left_alone() {
    let subscription = step("operators.coreos.com", "Subscription", named("sub"));
    let steps = [csv_step(), subscription];
    let mut cluster = Cluster::default();
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Created, StepStatus::Created]);
    assert_eq!(
        cluster.get("Subscription", "sub")["metadata"]["annotations"],
        json!({"olm.generated-by": "install-x"})
    );
    let writes = cluster.writes;
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present, StepStatus::Present]);
    assert_eq!(cluster.writes, writes);
}

#[test]
fn generated_rights_are_owned_by_the_live_csv() {
    let role = json!({
        "metadata": {"name": "r", "namespace": "ns", "ownerReferences": [{"kind": "ClusterServiceVersion", "name": "csv.v1", "uid": ""}]},
        "rules": [{"verbs": ["get"]}],
    });
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[csv_step(), step("rbac.authorization.k8s.io", "Role", role)]);
    let live = cluster.get("Role", "r");
    assert_eq!(live["apiVersion"], "rbac.authorization.k8s.io/v1");
    assert_eq!(live["metadata"]["ownerReferences"][0]["uid"], "uid-csv.v1");
}

#[test]
fn an_existing_cluster_role_is_made_equal() {
    let role = |rules: Value| json!({"metadata": {"name": "r", "namespace": "ns"}, "rules": rules});
    let step = |rules| step("rbac.authorization.k8s.io", "ClusterRole", role(rules));
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[step(json!([{"verbs": ["get"]}]))]);
    cluster
        .change("ClusterRole", "r", |object| object["metadata"]["labels"]["foreign"] = json!("1"));
    assert_eq!(
        execute(&mut cluster, &[step(json!([{"verbs": ["list"]}]))]).0,
        [StepStatus::Present]
    );
    let live = cluster.get("ClusterRole", "r");
    assert_eq!(live["rules"], json!([{"verbs": ["list"]}]));
    assert_eq!(
        live["metadata"],
        json!({"name": "r", "uid": "uid-r", "labels": {"olm.managed": "true", "olm.owner": "csv.v1"}})
    );
}

#[test]
fn an_object_that_is_equal_is_not_written() {
    let steps =
        [csv_step(), core("ConfigMap", json!({"metadata": {"name": "c"}, "data": {"a": "1"}}))];
    let mut cluster = Cluster::default();
    execute(&mut cluster, &steps);
    let writes = cluster.writes;
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present, StepStatus::Present]);
    assert_eq!(cluster.writes, writes);
}

#[test]
fn a_service_account_is_merged() {
    let account =
        |annotations: Value| json!({"metadata": {"name": "sa", "annotations": annotations}});
    let mut cluster = Cluster::default();
    execute(
        &mut cluster,
        &[core("ServiceAccount", account(json!({"existing": "1", "override": "old"})))],
    );
    cluster.change("ServiceAccount", "sa", |object| {
        object["secrets"] = json!([{"name": "token"}]);
        object["metadata"]["ownerReferences"] = json!([{"uid": "other"}]);
    });
    let steps = [core("ServiceAccount", account(json!({"new": "1", "override": "new"})))];
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present]);
    let live = cluster.get("ServiceAccount", "sa");
    assert_eq!(
        live["metadata"]["annotations"],
        json!({"existing": "1", "new": "1", "override": "new"})
    );
    assert_eq!(live["metadata"]["ownerReferences"], json!([{"uid": "other"}]));
    assert_eq!(live["secrets"], json!([{"name": "token"}]));
}

#[test]
fn secrets_of_a_manifest_do_not_reach_an_existing_account() {
    let mut cluster = Cluster::default();
    execute(
        &mut cluster,
        &[core(
            "ServiceAccount",
            json!({"metadata": {"name": "sa"}, "secrets": [{"name": "first"}]}),
        )],
    );
    execute(&mut cluster, &[core("ServiceAccount", named("sa"))]);
    assert_eq!(cluster.get("ServiceAccount", "sa")["secrets"], json!([{"name": "first"}]));
}
