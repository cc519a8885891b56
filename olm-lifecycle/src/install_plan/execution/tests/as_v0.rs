//! What is written looks as v0 leaves it.

use super::*;

#[test]
fn a_csv_goes_through_its_type() {
    let mut cluster = Cluster::default();
    let owned = json!({"name": "as.example.com", "version": "v1", "kind": "A", "resources": [{"kind": "Pod", "version": "v1"}]});
    let csv = json!({
        "apiVersion": "v1alpha1",
        "metadata": {"name": "csv.v1", "creationTimestamp": null},
        "spec": {"customresourcedefinitions": {"owned": [owned]}, "unknown": 1},
        "status": {"phase": "Succeeded"},
    });
    let done = execute(&mut cluster, &[step("operators.coreos.com", "ClusterServiceVersion", csv)]);
    assert_eq!(done, (vec![StepStatus::Created], None));
    let csv = cluster.get("ClusterServiceVersion", "csv.v1");
    assert_eq!(csv["apiVersion"], "operators.coreos.com/v1alpha1");
    assert_eq!(csv["spec"]["cleanup"], json!({"enabled": false}));
    let resource = &csv["spec"]["customresourcedefinitions"]["owned"][0]["resources"][0];
    assert_eq!(resource["name"], "");
    assert!(csv["spec"].get("unknown").is_none() && csv.get("status").is_none());
}

#[test]
fn a_later_step_for_an_account_takes_away_what_it_does_not_name() {
    let mut cluster = Cluster::default();
    let account = json!({"metadata": {"name": "sa"}, "automountServiceAccountToken": true});
    let steps = [core("ServiceAccount", account), core("ServiceAccount", named("sa"))];
    let done = execute(&mut cluster, &steps);
    assert_eq!(done, (vec![StepStatus::Created, StepStatus::Present], None));
    assert!(cluster.get("ServiceAccount", "sa").get("automountServiceAccountToken").is_none());
}
