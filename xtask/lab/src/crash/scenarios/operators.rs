//! The operators of all scenarios: a kettle, and the cups that it may need.

use olm_testkit::builders::{Bundle, Crd, CsvBuilder, Package, csv};
use serde_json::json;

/// The kind that a kettle provides.
pub(super) fn kettles() -> Crd {
    Crd::new("crash.example.com", "v1", "Kettle")
}

/// A kettle that needs nothing.
pub(super) fn kettle(version: &str) -> Bundle {
    Bundle::new(version, &operator("kettle", version, &kettles())).provides(&kettles())
}

/// A spoon: no kind and no rights of its own, and a ConfigMap.
pub(super) fn spoon() -> Bundle {
    let operator = csv("spoon.v1.0.0", "1.0.0").deployment("spoon-manager", "default");
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "spoon"}, "data": {"size": "1"}});
    Bundle::new("1.0.0", &operator).manifest(settings)
}

/// A kettle that needs cups, and the operator that provides them.
pub(super) fn kettle_and_cup() -> Vec<Package> {
    let cups = Crd::new("crash.example.com", "v1", "Cup");
    let kettle = operator("kettle", "1.0.0", &kettles()).requires(&cups);
    let kettle = Bundle::new("1.0.0", &kettle).provides(&kettles()).requires(&cups);
    let cup = Bundle::new("1.0.0", &operator("cup", "1.0.0", &cups)).provides(&cups);
    vec![Package::single("kettle", kettle), Package::single("cup", cup)]
}

/// An operator with a kind, a Deployment and rights of both sorts.
pub(super) fn operator(name: &str, version: &str, crd: &Crd) -> CsvBuilder {
    let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let nodes = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]);
    csv(&format!("{name}.v{version}"), version)
        .owns(crd)
        .deployment(&format!("{name}-manager"), name)
        .permission(name, pods)
        .cluster_permission(name, nodes)
}
