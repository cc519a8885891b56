//! Each code: a change of a healthy namespace gives exactly one finding, that of the code.

use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

use super::*;

const NOW: &str = "2026-01-02T00:00:00Z";

/// An installed operator and everything around it, as it is when all is well.
fn healthy() -> Vec<Value> {
    let meta = |name: &str| json!({"name": name, "namespace": "ns"});
    let labels = json!({"app": "a"});
    vec![
        json!({"kind": "OperatorGroup", "metadata": meta("group"), "spec": {"targetNamespaces": ["ns"]}}),
        json!({"kind": "CatalogSource", "metadata": meta("kitchen"),
            "spec": {"sourceType": "grpc", "address": "127.0.0.1:1"},
            "status": {"connectionState": {"lastObservedState": "READY"}}}),
        json!({"kind": "PackageManifest", "metadata": meta("kettle"), "status": {
            "packageName": "kettle", "catalogSource": "kitchen", "catalogSourceNamespace": "ns",
            "defaultChannel": "stable",
            "channels": [{"name": "stable", "currentCSV": "kettle.v1", "entries": []}]}}),
        json!({"kind": "Subscription", "metadata": meta("kettle"),
            "spec": {"name": "kettle", "channel": "stable", "source": "kitchen", "sourceNamespace": "ns"},
            "status": {"state": "AtLatestKnown", "installedCSV": "kettle.v1", "currentCSV": "kettle.v1",
                "installPlanRef": {"name": "plan"}}}),
        json!({"kind": "InstallPlan", "metadata": meta("plan"),
            "spec": {"approval": "Automatic", "approved": true,
                "clusterServiceVersionNames": ["kettle.v1"]},
            "status": {"phase": "Complete"}}),
        json!({"kind": "ClusterServiceVersion", "metadata": meta("kettle.v1"),
            "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [{"name": "a"}]}}},
            "status": {"phase": "Succeeded", "reason": "InstallSucceeded",
                "certsRotateAt": "2026-01-01T23:30:00Z"}}),
        json!({"kind": "Deployment", "metadata": meta("a"),
            "spec": {"selector": {"matchLabels": labels}, "template": {}}}),
        json!({"kind": "Pod", "metadata": {"name": "a-0", "namespace": "ns", "labels": labels},
            "status": {"phase": "Running"}}),
        json!({"kind": "OperatorCondition", "metadata": meta("kettle.v1")}),
        json!({"kind": "APIService", "metadata": {"name": "v1.packages.operators.coreos.com"},
            "status": {"conditions": [{"type": "Available", "status": "True"}]}}),
        json!({"kind": "OlmDeployment", "metadata": {"name": "olm-operator", "namespace": "olm"}}),
    ]
}

fn all<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Vec<T> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    let without_kind = of_kind.map(|object| {
        let mut object = object.clone();
        object.as_object_mut().unwrap().remove("kind");
        object
    });
    without_kind.map(|object| from_value(object).unwrap()).collect()
}

fn observed(objects: &[Value]) -> Observed {
    let others = |object: &&Value| {
        let kind = object["kind"].as_str().unwrap();
        kind == "APIService" || kind.ends_with("WebhookConfiguration")
    };
    Observed {
        subscriptions: all(objects, "Subscription"),
        install_plans: all(objects, "InstallPlan"),
        csvs: all(objects, "ClusterServiceVersion"),
        catalog_sources: all(objects, "CatalogSource"),
        operator_groups: all(objects, "OperatorGroup"),
        operator_conditions: all(objects, "OperatorCondition"),
        packages: all(objects, "PackageManifest"),
        deployments: all(objects, "Deployment"),
        pods: all(objects, "Pod"),
        olm_deployments: all(objects, "OlmDeployment"),
        others: objects.iter().filter(others).cloned().collect(),
        ..Observed::default()
    }
}

/// The healthy objects with these changes: a patch of the first object of its kind, an object with
/// another name, or a kind of which nothing is left.
fn changed(changes: &[Value]) -> Observed {
    let mut objects = healthy();
    for change in changes {
        let kind = &change["kind"];
        if let Some(kind) = change.get("without") {
            objects.retain(|object| object["kind"] != *kind);
            continue;
        }
        let first = objects.iter_mut().find(|object| object["kind"] == *kind);
        match first {
            Some(object) if change.get("metadata").is_none() => merge(object, change),
            _ => objects.push(change.clone()),
        }
    }
    observed(&objects)
}

fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *object = patch.clone();
        return;
    };
    for (key, value) in fields {
        merge(&mut object[key.as_str()], value);
    }
}

fn subscription(condition: &str, message: &str) -> Value {
    let condition = json!({"type": condition, "status": "True", "reason": "R", "message": message});
    json!({"kind": "Subscription", "status": {"conditions": [condition]}})
}

fn plan_failed(message: &str) -> Value {
    json!({"kind": "InstallPlan", "status": {"phase": "Failed", "message": message}})
}

fn csv(phase: &str, reason: &str) -> Value {
    json!({"kind": "ClusterServiceVersion", "status": {"phase": phase, "reason": reason}})
}

fn requirement(message: &str) -> Value {
    json!({"kind": "ClusterServiceVersion", "status": {"phase": "Pending",
        "reason": "RequirementsNotMet", "requirementStatus": [
            {"kind": "ServiceAccount", "name": "a", "status": "PresentNotSatisfied", "message": message},
            {"kind": "Deployment", "name": "b", "status": "Present", "message": ""}]}})
}

fn waiting_plan() -> Value {
    json!({"kind": "InstallPlan", "spec": {"approval": "Manual", "approved": false},
        "status": {"phase": "RequiresApproval"}})
}

fn pod(labels: &Value, state: &Value) -> Value {
    json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": labels}, "status": {
        "containerStatuses": [{"name": "c", "image": "i", "imageID": "", "ready": false,
            "restartCount": 1, "state": state}]}})
}

fn not_ready() -> Value {
    let state = json!({"lastObservedState": "TRANSIENT_FAILURE"});
    json!({"kind": "CatalogSource", "status": {"connectionState": state}})
}

fn manual() -> Value {
    json!({"kind": "Subscription", "spec": {"installPlanApproval": "Manual"}})
}

#[rstest]
#[case("OLM001", &[subscription("ResolutionFailed",
    "clusterserviceversion kettle.v1 exists and is not referenced by a subscription")])]
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
#[case("OLM011", &[not_ready(), json!({"kind": "CatalogSource", "spec": {"image": "i"}})])]
#[case("OLM012", &[subscription("BundleUnpackFailed", "the Job failed")])]
#[case("OLM013", &[waiting_plan(), manual()])]
#[case("OLM014", &[subscription("InstallPlanMissing", "it is gone")])]
#[case("OLM016", &[plan_failed("forbidden")])]
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
#[case("OLM025", &[json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w", "labels": {
    "olm.owner": "gone", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"}}})])]
#[case("OLM026", &[json!({"kind": "ClusterServiceVersion", "status": {
    "certsRotateAt": "2026-01-01T20:00:00Z"}})])]
#[case("OLM027", &[json!({"kind": "InstallPlan", "status": {"plan": [
    {"resource": {"kind": "Role", "manifest": "x".repeat(1_100_000)}}]}})])]
#[case("OLM028", &[json!({"kind": "OperatorCondition", "spec": {"conditions": [
    {"type": "Upgradeable", "status": "False", "reason": "Busy", "message": "later",
        "lastTransitionTime": NOW}]}})])]
#[case("OLM029", &[json!({"kind": "OlmDeployment", "metadata": {
    "name": "olm-operator", "namespace": "operators"}})])]
#[case("OLM030", &[subscription("ChannelDeprecated", "take another")])]
#[case("OLM031", &[subscription("ResolutionFailed", "constraints not satisfiable")])]
#[case("OLM032", &[csv("Failed", "ComponentUnhealthy")])]
fn a_change_gives_exactly_one_finding(#[case] expected: &str, #[case] changes: &[Value]) {
    let report = examine(&changed(changes), NOW.parse().unwrap());
    let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [expected], "{:#?}", report.findings);
    assert!(!report.findings[0].fix.is_empty() && report.skipped.is_empty());
}

#[test]
fn an_automatic_sibling_is_held_by_the_plan_that_waits() {
    let report = examine(&changed(&[waiting_plan()]), NOW.parse().unwrap());
    let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["OLM013", "OLM015"]);
}

#[rstest]
#[case("kettle-1.0_x", "kettle-1.0_x")]
#[case("a b", "'a b'")]
#[case("$(id)'; id", r"'$(id)'\''; id'")]
#[case("", "''")]
fn a_fix_runs_nothing_that_a_name_holds(#[case] name: &str, #[case] expected: &str) {
    assert_eq!(quoted(name), expected);
}

#[test]
fn healthy_objects_give_no_finding() {
    assert_eq!(examine(&changed(&[]), NOW.parse().unwrap()), Report::default());
    assert_eq!(examine(&Observed::default(), NOW.parse().unwrap()), Report::default());
}

#[test]
fn what_was_not_read_is_skipped_and_never_healthy() {
    let mut observed = changed(&[json!({"without": "OperatorGroup"})]);
    observed.unread.insert("operatorgroups", "forbidden".to_owned());
    let report = examine(&observed, NOW.parse().unwrap());
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.code).collect();
    assert_eq!((report.findings.len(), skipped), (0, vec!["OLM002", "OLM003", "OLM031"]));
    assert_eq!(report.skipped[0].cause, "operatorgroups: forbidden");
}

#[test]
fn every_code_has_a_number_of_its_own_and_a_case() {
    let numbers: Vec<String> = CODES.iter().map(|code| code.id.to_owned()).collect();
    let expected: Vec<String> = (1..=CODES.len()).map(|number| format!("OLM{number:03}")).collect();
    assert_eq!(numbers, expected);
    assert!(code("olm012").is_some() && code("OLM999").is_none());
}
