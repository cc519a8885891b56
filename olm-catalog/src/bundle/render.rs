//! Makes an `olm.bundle` blob, manifests included, from the manifests of a bundle.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use olm_types::gvk::{CrdName, Gvk};
use serde_json::{Value, json};
use thiserror::Error;

use super::manifests::Manifest;

/// The manifests make no bundle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RenderError {
    /// There must be exactly one CSV.
    #[error("a bundle needs exactly one ClusterServiceVersion, found {0}")]
    Csvs(usize),
    /// The CSV lacks a field.
    #[error("the ClusterServiceVersion {0:?} has no {1}")]
    Missing(String, &'static str),
    /// The CSV owns a CRD that is not there.
    #[error("the ClusterServiceVersion owns the CRD {0:?}, of which there is no manifest")]
    NoCrd(String),
}

/// The blob of a bundle of `package`. Properties follow from the manifests: its version, the APIs
/// of its CRDs and owned API services, and the APIs it requires.
///
/// # Errors
/// There is not exactly one CSV, it has no name or version, or a CRD that it owns is missing.
pub fn render(package: &str, manifests: &[Manifest]) -> Result<Value, RenderError> {
    let csvs: Vec<_> =
        manifests.iter().filter(|manifest| manifest.kind() == "ClusterServiceVersion").collect();
    let [csv] = csvs.as_slice() else {
        return Err(RenderError::Csvs(csvs.len()));
    };
    let missing = |field| RenderError::Missing(csv.name().to_owned(), field);
    if csv.name().is_empty() {
        return Err(missing("name"));
    }
    let version = csv.object.pointer("/spec/version").and_then(Value::as_str);
    let version = version.ok_or_else(|| missing("spec.version"))?;
    let crds: Vec<_> = manifests.iter().filter(|manifest| is_crd(manifest)).collect();
    check_owned(&csv.object, &crds)?;

    let mut properties =
        vec![property("olm.package", json!({ "packageName": package, "version": version }))];
    let mut provided: BTreeSet<Gvk> = crds.iter().flat_map(|crd| crd_apis(&crd.object)).collect();
    provided.extend(listed_apis(&csv.object, "/spec/apiservicedefinitions/owned"));
    properties.extend(provided.iter().map(|gvk| property("olm.gvk", json!(gvk))));
    properties
        .extend(required(&csv.object).iter().map(|gvk| property("olm.gvk.required", json!(gvk))));
    properties.extend(manifests.iter().map(object_property));
    Ok(json!({
        "schema": "olm.bundle",
        "package": package,
        "name": csv.name(),
        "properties": properties,
        "relatedImages": csv.object.pointer("/spec/relatedImages").cloned().unwrap_or(json!([])),
    }))
}

fn property(kind: &str, value: Value) -> Value {
    json!({ "type": kind, "value": value })
}

fn object_property(manifest: &Manifest) -> Value {
    let data = STANDARD.encode(manifest.object.to_string());
    property("olm.bundle.object", json!({ "data": data }))
}

fn is_crd(manifest: &Manifest) -> bool {
    manifest.kind() == "CustomResourceDefinition"
}

fn check_owned(csv: &Value, crds: &[&Manifest]) -> Result<(), RenderError> {
    for name in items(csv, "/spec/customresourcedefinitions/owned").map(|owned| text(owned, "name"))
    {
        if !crds.iter().any(|crd| crd.name() == name) {
            return Err(RenderError::NoCrd(name.to_owned()));
        }
    }
    Ok(())
}

/// Every version of a CRD.
fn crd_apis(crd: &Value) -> Vec<Gvk> {
    let group = crd.pointer("/spec/group").and_then(Value::as_str).unwrap_or_default();
    let kind = crd.pointer("/spec/names/kind").and_then(Value::as_str).unwrap_or_default();
    items(crd, "/spec/versions")
        .map(|version| Gvk::new(group, text(version, "name"), kind))
        .collect()
}

fn required(csv: &Value) -> BTreeSet<Gvk> {
    let crds = items(csv, "/spec/customresourcedefinitions/required");
    let crds = crds.filter_map(|crd| {
        let name = CrdName::parse(text(crd, "name")).ok()?;
        Some(Gvk::new(name.group, text(crd, "version"), text(crd, "kind")))
    });
    crds.chain(listed_apis(csv, "/spec/apiservicedefinitions/required")).collect()
}

/// APIs of API services: `group`, `version`, `kind`.
fn listed_apis(csv: &Value, path: &str) -> Vec<Gvk> {
    let api = |api| Gvk::new(text(api, "group"), text(api, "version"), text(api, "kind"));
    items(csv, path).map(api).collect()
}

fn items<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
