//! A healthy namespace, and changes of it.

mod each_code;
mod rules;

use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

use super::*;
use crate::observed::{HeldResource, Size, VisiblePackage};

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
            "channels": [{"name": "stable", "currentCSV": "kettle.v1", "entries": []},
                {"name": "candidate", "currentCSV": "kettle.v1", "entries": []}]}}),
        json!({"kind": "Subscription", "metadata": meta("kettle"),
            "spec": {"name": "kettle", "channel": "stable", "source": "kitchen", "sourceNamespace": "ns"},
            "status": {"state": "AtLatestKnown", "installedCSV": "kettle.v1", "currentCSV": "kettle.v1",
                "installPlanRef": {"name": "plan"}}}),
        json!({"kind": "InstallPlan", "metadata": meta("plan"),
            "spec": {"approval": "Automatic", "approved": true,
                "clusterServiceVersionNames": ["kettle.v1"]},
            "status": {"phase": "Complete"}}),
        json!({"kind": "ClusterServiceVersion", "metadata": meta("kettle.v1"),
            "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [{"name": "a"}]}},
                "installModes": [{"type": "AllNamespaces", "supported": true}]},
            "status": {"phase": "Succeeded", "reason": "InstallSucceeded",
                "certsRotateAt": "2026-01-01T23:30:00Z"}}),
        json!({"kind": "Deployment", "metadata": meta("a"),
            "spec": {"selector": {"matchLabels": labels}, "template": {}}}),
        json!({"kind": "Pod", "metadata": {"name": "a-0", "namespace": "ns", "labels": labels},
            "status": {"phase": "Running"}}),
        json!({"kind": "OperatorCondition", "metadata": meta("kettle.v1")}),
        json!({"kind": "APIService", "metadata": {"name": "v1.packages.operators.coreos.com"},
            "status": {"conditions": [{"type": "Available", "status": "True"}]}}),
        json!({"kind": "OlmDeployment", "metadata": {"name": "olm-operator", "namespace": "olm",
            "creationTimestamp": "2025-01-01T00:00:00Z"}}),
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
    let kinds = [
        "APIService",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "Secret",
        "Service",
        "CustomResourceDefinition",
    ];
    let others = |object: &&Value| kinds.contains(&object["kind"].as_str().unwrap());
    let package = |name: &str| VisiblePackage {
        package: name.to_owned(),
        catalog: "kitchen".to_owned(),
        catalog_namespace: "ns".to_owned(),
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
        visible_packages: [("ns".to_owned(), vec![package("kettle"), package("spoon")])].into(),
        held: all(objects, "Held").iter().map(held).collect(),
        sizes: all(objects, "Size").iter().map(size).collect(),
        denied: all(objects, "Denied").iter().map(|one: &Value| one["what"].to_string()).collect(),
        ..Observed::default()
    }
}

fn held(object: &Value) -> HeldResource {
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    HeldResource {
        crd: text("crd"),
        kind: "Cup".to_owned(),
        namespace: "ns".to_owned(),
        name: text("name"),
        finalizers: vec!["a.io/held".to_owned()],
    }
}

fn size(object: &Value) -> Size {
    let bytes = object["bytes"].as_u64().unwrap().try_into().unwrap();
    Size { kind: "InstallPlan", namespace: "ns".to_owned(), name: "plan".to_owned(), bytes }
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

/// A CSV in a phase, and the phases that it was in before.
fn phases(phase: &str, before: &[&str]) -> Value {
    let condition = |phase: &&str| json!({"phase": phase, "reason": format!("{phase}Again")});
    json!({"kind": "ClusterServiceVersion", "status": {"phase": phase, "reason": "R",
        "conditions": before.iter().map(condition).collect::<Vec<_>>()}})
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

fn plan_retried(message: &str) -> Value {
    let message = format!("retrying execution due to error: {message}");
    json!({"kind": "InstallPlan", "status": {"phase": "Installing", "message": message}})
}

/// A catalog that OLM serves by itself.
fn served() -> Value {
    json!({"kind": "CatalogSource", "spec": {"image": "i", "address": null}})
}

fn unschedulable() -> Value {
    json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns",
            "labels": {"olm.catalogSource": "kitchen"}},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available"}]}})
}

fn codes_of(report: &Report) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.code).collect()
}

fn orphan() -> Value {
    json!({"kind": "ClusterServiceVersion", "metadata": {"name": "pot.v1", "namespace": "ns"},
        "spec": {"installModes": []}, "status": {"phase": "Succeeded"}})
}

fn generated() -> Value {
    json!({"kind": "Subscription", "metadata": {"name": "pot", "namespace": "ns",
            "annotations": {"olm.generated-by": "install-1"}},
        "spec": {"name": "kettle", "channel": "stable", "source": "kitchen", "sourceNamespace": "ns"},
        "status": {"state": "UpgradePending", "currentCSV": "pot.v1", "installedCSV": "pot.v1"}})
}

fn webhook(labels: &Value, bundle: &str) -> Value {
    json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w", "labels": labels},
        "webhooks": [{"clientConfig": {"caBundle": bundle, "service": {"namespace": "ns", "name": "a"}}}]})
}

fn of_csv(name: &str) -> Value {
    json!({"olm.owner": name, "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"})
}

fn new_plan(spec: Value, status: Value) -> Value {
    json!({"kind": "InstallPlan", "metadata": {"name": "other", "namespace": "ns"}, "spec": spec,
        "status": status})
}
