//! Objects as the fixtures of spec olm-operator 8 have them, in namespace `ns`.

use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use super::world::World;
use crate::install::Overrides;

/// The namespace of all fixtures.
pub(crate) const NS: &str = "ns";

/// An OperatorGroup in `ns` whose status lists `namespaces`, for which it asks unless `spec` says what
/// it asks for.
pub(crate) fn mk_group(name: &str, mut spec: Value, namespaces: &[&str]) -> Value {
    let asks = spec.get("targetNamespaces").is_some() || spec.get("selector").is_some();
    if !asks && namespaces != [""] {
        spec["targetNamespaces"] = json!(namespaces);
    }
    json!({
        "apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": name, "namespace": NS, "uid": name},
        "spec": spec,
        "status": {"namespaces": namespaces, "lastUpdated": "2026-01-01T00:00:00Z"},
    })
}

/// A CSV as the fixtures of spec olm-operator 8 have it: one Deployment `<name>-dep`, all install
/// modes, the annotations of group `default`, the finalizer.
pub(crate) fn mk_csv(name: &str) -> Value {
    let modes = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
    let modes = modes.map(|mode| json!({"type": mode, "supported": true}));
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {
            "name": name, "namespace": NS, "uid": format!("uid-{name}"), "generation": 1,
            "finalizers": ["operators.coreos.com/csv-cleanup"],
            "annotations": {
                "olm.operatorGroup": "default",
                "olm.operatorNamespace": NS,
                "olm.targetNamespaces": NS,
            },
        },
        "spec": {
            "displayName": name,
            "minKubeVersion": "0.0.0",
            "installModes": modes,
            "install": {"strategy": "deployment", "spec": {
                "deployments": [{"name": format!("{name}-dep"), "spec": mk_deployment_spec()}],
            }},
        },
    })
}

pub(crate) fn mk_deployment_spec() -> Value {
    json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"serviceAccountName": "sa", "containers": [{"name": "c", "image": "i"}]},
        },
    })
}

/// A CSV in a phase that it entered for a reason.
pub(crate) fn mk_csv_in(name: &str, phase: &str, reason: &str) -> Value {
    let mut csv = mk_csv(name);
    csv["status"] = json!({
        "phase": phase, "reason": reason, "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "lastUpdateTime": "2026-01-01T00:00:00Z",
    });
    csv
}

pub(crate) fn own(csv: &mut Value, crds: &[&str]) {
    csv["spec"]["customresourcedefinitions"]["owned"] = mk_descriptions(crds);
}

pub(crate) fn require(csv: &mut Value, crds: &[&str]) {
    csv["spec"]["customresourcedefinitions"]["required"] = mk_descriptions(crds);
}

fn mk_descriptions(crds: &[&str]) -> Value {
    crds.iter().map(|name| json!({"name": name, "version": "v1", "kind": "K"})).collect()
}

/// An established CustomResourceDefinition that serves `v1`.
pub(crate) fn mk_crd(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": "K"},
            "versions": [{"name": "v1", "served": true, "storage": true}],
        },
        "status": {
            "acceptedNames": {"plural": plural, "kind": "K"}, "storedVersions": ["v1"],
            "conditions": [
                {"type": "Established", "status": "True"},
                {"type": "NamesAccepted", "status": "True"},
            ],
        },
    })
}

/// A Deployment as an install of `csv` would have made it, available.
pub(crate) fn mk_installed(csv: &Value) -> Deployment {
    let csv: ClusterServiceVersion = serde_json::from_value(csv.clone()).unwrap();
    let entry = &csv.spec.install.spec.as_ref().unwrap().deployments[0];
    let mut object =
        crate::install::desired_deployment(&csv, entry, &Overrides::default()).unwrap();
    object["status"] = json!({"conditions": [{"type": "Available", "status": "True"}]});
    serde_json::from_value(object).unwrap()
}

/// Adds a CSV together with what its install would have made.
pub(crate) fn put_installed(world: &mut World, csv: Value) {
    let deployment = serde_json::to_value(mk_installed(&csv)).unwrap();
    world.put(deployment);
    world.put(csv);
}

/// A cluster with a succeeded, healthy CSV `csv` that owns `as.g.io`.
pub(crate) fn with_api() -> World {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": "K.v1.g.io"});
    });
    world.put(mk_crd("as.g.io"));
    let mut csv = mk_csv_in("csv", "Succeeded", "InstallSucceeded");
    own(&mut csv, &["as.g.io"]);
    put_installed(&mut world, csv);
    world
}
