//! What the recordings leave out or hide, kind by kind.

use serde_json::{Map, Value, json};

/// The fields of a CSV's spec that are more than a copy of the bundle.
const CSV_FIELDS: [&str; 3] = ["cleanup", "replaces", "version"];

/// Annotations of a CSV that are too long for a recording.
const LONG_ANNOTATIONS: [&str; 1] = ["alm-examples"];

/// The fields of a CRD and of each of its versions that are recorded.
const CRD_FIELDS: [&str; 3] = ["conversion", "group", "versions"];
const CRD_VERSION_FIELDS: [&str; 3] = ["name", "served", "storage"];

/// Kinds whose manifests in InstallPlans are shortened.
const LONG_MANIFESTS: [&str; 2] = ["ClusterServiceVersion", "CustomResourceDefinition"];

/// Reduces an object of the cluster.
pub(super) fn reduce(object: &mut Value) {
    match object.get("kind").and_then(Value::as_str) {
        Some("ClusterServiceVersion") => csv(object),
        Some("CustomResourceDefinition") => crd(object),
        Some("InstallPlan") => install_plan(object),
        Some("Secret") => secret(object),
        _ => {}
    }
}

fn csv(csv: &mut Value) {
    if let Some(spec) = csv.get_mut("spec").and_then(Value::as_object_mut) {
        keep(spec, &CSV_FIELDS);
        let kept = Value::Object(std::mem::take(spec));
        spec.insert("<as in the bundle, except>".to_owned(), kept);
    }
    for name in LONG_ANNOTATIONS {
        if let Some(annotation) = csv.pointer_mut(&format!("/metadata/annotations/{name}")) {
            *annotation = json!("<as in the bundle>");
        }
    }
}

fn crd(crd: &mut Value) {
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        keep(spec, &CRD_FIELDS);
        let versions = spec.get_mut("versions").and_then(Value::as_array_mut);
        for version in versions.into_iter().flatten().filter_map(Value::as_object_mut) {
            keep(version, &CRD_VERSION_FIELDS);
        }
    }
    if let Some(status) = crd.get_mut("status").and_then(Value::as_object_mut) {
        keep(status, &["storedVersions"]);
    }
}

fn install_plan(plan: &mut Value) {
    let steps = plan.pointer_mut("/status/plan").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let kind = step.pointer("/resource/kind").and_then(Value::as_str).unwrap_or_default();
        if !LONG_MANIFESTS.contains(&kind) {
            continue;
        }
        let short = Value::String(format!("<manifest of {kind}>"));
        if let Some(manifest) = step.pointer_mut("/resource/manifest") {
            *manifest = short;
        }
    }
}

fn secret(secret: &mut Value) {
    let data = secret.get_mut("data").and_then(Value::as_object_mut);
    data.into_iter().flatten().for_each(|(_, value)| *value = json!("<secret>"));
}

fn keep(fields: &mut Map<String, Value>, names: &[&str]) {
    fields.retain(|name, _| names.contains(&name.as_str()));
}
