//! What a plan warns of: Pods and webhooks that reach beyond their operator, and what a removal leaves to its user.

use olm_types::api::ClusterServiceVersion;
use serde_json::from_value;

use super::permissions::{Rights, reaches_of};
use super::*;

/// A CSV whose one Deployment has Pods of this form.
fn with_pods(pod: &Value) -> ClusterServiceVersion {
    let deployment = json!({"name": "d", "spec": {"template": {"spec": pod}}});
    from_value(json!({"metadata": {"name": "c"}, "spec": {"install": {"strategy": "deployment",
        "spec": {"deployments": [deployment]}}}}))
    .unwrap()
}

#[rstest]
#[case(json!({"volumes": [{"name": "a", "emptyDir": {}}]}), &[])]
#[case(json!({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}), &["hostPath volume in Deployment d"])]
#[case(json!({"hostNetwork": true, "hostPID": false}), &["hostNetwork in Deployment d"])]
#[case(json!({"hostPID": true, "hostIPC": true}), &["hostIPC in Deployment d", "hostPID in Deployment d"])]
#[case(json!({"initContainers": [{"securityContext": {"privileged": true}}]}),
    &["privileged container in Deployment d"])]
fn pods_that_reach_their_node_are_named(#[case] pod: Value, #[case] expected: &[&str]) {
    let (old, new) = (with_pods(&json!({})), with_pods(&pod));
    assert_eq!(reaches_of(&new), expected);
    let between = |before: &ClusterServiceVersion| {
        let rights =
            Rights::between(std::slice::from_ref(before), std::slice::from_ref(&new), false);
        rights.reaches.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(between(&old), expected);
    assert_eq!(between(&new), [""; 0], "it did so before");
}

#[test]
fn a_webhook_reaches_beyond_its_operator() {
    let csv: ClusterServiceVersion = from_value(json!({"metadata": {"name": "c"}, "spec": {
        "install": {"strategy": "deployment"}, "webhookdefinitions": [{"generateName": "v.x.io",
            "type": "ValidatingAdmissionWebhook", "admissionReviewVersions": ["v1"],
            "sideEffects": "None"}]}}))
    .unwrap();
    assert_eq!(reaches_of(&csv), ["webhook v.x.io (ValidatingAdmissionWebhook)"]);
}

#[test]
fn a_removal_says_what_becomes_of_a_crd_that_is_deleted() {
    let wanted = Operation::Uninstall { operator: "kettle".to_owned() };
    let preview = complete(wanted, &known(&installed("Automatic")));
    assert_eq!(
        preview.crds[0].line(),
        "kettles.x.io stays (1 custom resources): deleting it deletes the custom resources of all namespaces"
    );
}
