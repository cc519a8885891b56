//! The APIs that a bundle provides and requires, read off its manifests.

use std::collections::BTreeSet;

use olm_types::gvk::{CrdName, Gvk};
use serde_json::Value;

use super::RenderError;

/// APIs of CRDs among the manifests, every version of each, and those of owned API services.
pub(super) fn provided(objects: &[Value], csv: &Value) -> BTreeSet<Gvk> {
    let crds = objects.iter().filter(|object| is_crd(object)).flat_map(crd_apis);
    crds.chain(listed_apis(csv, "/spec/apiservicedefinitions/owned")).collect()
}

/// APIs of required CRDs and API services.
///
/// # Errors
/// The name of a CRD has no group.
pub(super) fn required(csv: &Value) -> Result<BTreeSet<Gvk>, RenderError> {
    let crds = items(csv, "/spec/customresourcedefinitions/required").map(described_api);
    let services = listed_apis(csv, "/spec/apiservicedefinitions/required").into_iter().map(Ok);
    crds.chain(services).collect()
}

/// Refuses a CSV that owns a CRD which is not among the manifests.
///
/// # Errors
/// It does.
pub(super) fn check_owned_crds(objects: &[Value], csv: &Value) -> Result<(), RenderError> {
    let name = |object| pointed(object, "/metadata/name");
    let there: BTreeSet<&str> = objects.iter().filter(|it| is_crd(it)).map(name).collect();
    let owned = items(csv, "/spec/customresourcedefinitions/owned");
    match owned.map(|crd| text(crd, "name")).find(|name| !there.contains(name)) {
        Some(missing) => Err(RenderError::NoCrd(missing.to_owned())),
        None => Ok(()),
    }
}

/// Refuses a CSV that owns a version of a CRD which no manifest defines.
///
/// # Errors
/// It does, or the name of a CRD has no group.
pub(super) fn check_owned_apis(objects: &[Value], csv: &Value) -> Result<(), RenderError> {
    let there: BTreeSet<(String, Gvk)> = objects
        .iter()
        .filter(|object| is_crd(object))
        .flat_map(|crd| crd_apis(crd).into_iter().map(|api| (crd_name(crd), api)))
        .collect();
    for owned in items(csv, "/spec/customresourcedefinitions/owned") {
        let wanted = (text(owned, "name").to_owned(), described_api(owned)?);
        if !there.contains(&wanted) {
            return Err(RenderError::NoApi(wanted.0, wanted.1.version));
        }
    }
    Ok(())
}

/// The API of a CRD that a CSV describes: `name`, `version`, `kind`.
fn described_api(crd: &Value) -> Result<Gvk, RenderError> {
    let name = text(crd, "name");
    let parsed = CrdName::parse(name).map_err(|_| RenderError::CrdName(name.to_owned()))?;
    Ok(Gvk::new(parsed.group, text(crd, "version"), text(crd, "kind")))
}

fn is_crd(object: &Value) -> bool {
    text(object, "kind") == "CustomResourceDefinition"
}

/// The name that the definition must have: plural and group.
fn crd_name(crd: &Value) -> String {
    format!("{}.{}", pointed(crd, "/spec/names/plural"), pointed(crd, "/spec/group"))
}

/// Every version of a CRD. Old ones may have a single one beside or instead of the list.
fn crd_apis(crd: &Value) -> Vec<Gvk> {
    let field = |path| pointed(crd, path);
    let (group, kind) = (field("/spec/group"), field("/spec/names/kind"));
    let single = Some(field("/spec/version")).filter(|version| {
        !version.is_empty() && field("/apiVersion") == "apiextensions.k8s.io/v1beta1"
    });
    let versions = items(crd, "/spec/versions").map(|version| text(version, "name"));
    versions.chain(single).map(|version| Gvk::new(group, version, kind)).collect()
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

fn pointed<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
