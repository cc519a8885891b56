//! Each code: a change of a healthy namespace gives exactly one finding, that of the code.

use rstest::rstest;

use super::*;

#[rstest]
#[case("OLM001", &[orphan(), subscription("ResolutionFailed",
    "clusterserviceversion pot.v1 exists and is not referenced by a subscription")])]
#[case("OLM002", &[json!({"without": "OperatorGroup"})])]
#[case("OLM003", &[json!({"kind": "OperatorGroup", "metadata": {"name": "h", "namespace": "ns"}})])]
#[case("OLM004", &[csv("Failed", "UnsupportedOperatorGroup")])]
#[case("OLM005", &[csv("Failed", "InterOperatorGroupOwnerConflict")])]
#[case("OLM006", &[json!({"kind": "Subscription", "spec": {"source": "cellar"}})])]
#[case("OLM007", &[subscription("ResolutionFailed", "no operators found in package stove"),
    json!({"kind": "Subscription", "spec": {"name": "stove"}})])]
#[case("OLM008", &[subscription("ResolutionFailed", "no operators found in channel fast"),
    json!({"kind": "Subscription", "spec": {"channel": "fast"}})])]
#[case("OLM009", &[not_ready()])]
#[case("OLM010", &[pod(&json!({"olm.catalogSource": "kitchen"}),
    &json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})), not_ready()])]
#[case("OLM011", &[not_ready(), served()])]
#[case("OLM011", &[not_ready(), served(), unschedulable()])]
#[case("OLM012", &[subscription("BundleUnpackFailed", "the Job failed")])]
#[case("OLM013", &[waiting_plan(), manual()])]
#[case("OLM014", &[subscription("InstallPlanMissing", "it is gone")])]
#[case("OLM016", &[plan_failed("forbidden")])]
#[case("OLM016", &[plan_retried("no such kind")])]
#[case("OLM017", &[plan_failed("risk of data loss updating \"a\": new CRD removes version v1")])]
#[case("OLM018", &[plan_failed("error validating existing CRs against new CRD's schema for \"a\"")])]
#[case("OLM019", &[requirement("Policy rule not satisfied")])]
#[case("OLM020", &[requirement("Service account is owned by another ClusterServiceVersion")])]
#[case("OLM021", &[pod(&json!({"app": "a"}), &json!({"waiting": {"reason": "ImagePullBackOff"}})),
    csv("Failed", "InstallCheckFailed")])]
#[case("OLM022", &[json!({"kind": "ClusterServiceVersion", "spec": {"replaces": "kettle.v2"}}),
    json!({"kind": "ClusterServiceVersion", "metadata": {"name": "kettle.v2", "namespace": "ns"},
        "spec": {"replaces": "kettle.v1"}})])]
#[case("OLM022", &[csv("Replacing", "BeingReplaced")])]
#[case("OLM023", &[json!({"kind": "PackageManifest", "status": {"channels": [
    {"name": "stable", "currentCSV": "kettle.v2"}]}})])]
#[case("OLM024", &[json!({"kind": "APIService", "status": {"conditions": [
    {"type": "Available", "status": "False", "reason": "MissingEndpoints"}]}})])]
#[case("OLM025", &[webhook(&of_csv("gone"), "")])]
#[case("OLM025", &[json!({"kind": "CustomResourceDefinition", "metadata": {"name": "cups.a.io"}, "spec": {
    "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {
        "service": {"namespace": "ns", "name": "gone"}}}}}})])]
#[case("OLM026", &[json!({"kind": "ClusterServiceVersion", "status": {
    "certsRotateAt": "2026-01-01T20:00:00Z"}})])]
#[case("OLM026", &[webhook(&of_csv("kettle.v1"), "b3RoZXI="), json!({"kind": "Secret", "metadata": {
    "name": "a-cert", "namespace": "ns", "annotations": {"olmcahash": "0"}}})])]
#[case("OLM027", &[json!({"kind": "Size", "bytes": 1_100_000})])]
#[case("OLM028", &[json!({"kind": "OperatorCondition", "spec": {"conditions": [
    {"type": "Upgradeable", "status": "False", "reason": "Busy", "message": "later",
        "lastTransitionTime": NOW}]}})])]
#[case("OLM029", &[json!({"kind": "OlmDeployment", "metadata": {
    "name": "olm-operator", "namespace": "operators", "creationTimestamp": NOW}})])]
#[case("OLM030", &[subscription("ChannelDeprecated", "take another")])]
#[case("OLM031", &[subscription("ResolutionFailed", "constraints not satisfiable")])]
#[case("OLM032", &[csv("Failed", "ComponentUnhealthy")])]
#[case("OLM032", &[phases("InstallReady", &["Failed", "Pending", "Failed", "Pending", "Failed", "Pending"])])]
#[case("OLM033", &[not_ready(), served(), json!({"kind": "CatalogSource", "status": {
    "message": "pods \"kitchen-a\" is forbidden: violates PodSecurity \"restricted:latest\""}})])]
#[case("OLM034", &[new_plan(json!({"approved": true, "clusterServiceVersionNames": ["kettle.v2"]}),
    json!(null))])]
#[case("OLM034", &[new_plan(json!({"approved": true}), json!({"phase": "Installing", "conditions": [
    {"type": "Installed", "status": "False", "reason": "InstallCheckFailed"}]}))])]
#[case("OLM035", &[json!({"kind": "Held", "crd": "cups.a.io", "name": "c"})])]
#[case("OLM036", &[orphan(), generated()])]
#[case("OLM037", &[json!({"kind": "APIService", "metadata": {"name": "v1.other"}, "status": {
    "conditions": [{"type": "Available", "status": "False"}]}})])]
#[case("OLM038", &[json!({"kind": "Denied", "what": "everything"})])]
#[case("OLM039", &[csv("Installing", "InstallWaiting")])]
#[case("OLM040", &[json!({"kind": "CatalogSource", "metadata": {"name": "l", "namespace": "olm"},
    "spec": {"address": "a:1", "grpcPodConfig": {"securityContextConfig": "legacy"}},
    "status": {"connectionState": {"lastObservedState": "READY"}}})])]
#[case("OLM041", &[csv("Failed", "InstallCheckFailed"), json!({"kind": "Deployment", "status": {"conditions": [
    {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
        "message": "pods \"a-\" is forbidden: serviceaccount \"tool\" not found"}]}})])]
fn a_change_gives_exactly_one_finding(#[case] expected: &str, #[case] changes: &[Value]) {
    let row = code(expected).unwrap();
    let report = examine(&changed(changes), row.is_before, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), [expected], "{:#?}", report.findings);
    let found = &report.findings[0];
    assert!(!found.fix.is_empty() && !found.evidence.is_empty(), "{found:?}");
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    assert_eq!(
        found.fix.starts_with("kubectl ") || found.fix.starts_with("printf "),
        found.class == Class::Command,
        "{found:?}"
    );
}
