//! The objects of a bundle besides its CSV.

use olm_types::api::StepResource;
use olm_types::document::{self, Budget, Meter};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::{BundleError, StepSink};

/// Step kind of a core Secret that is part of a bundle; plain `Secret` steps are pull secrets.
pub(crate) const BUNDLE_SECRET: &str = "BundleSecret";

/// The kind of the object that a step writes. Secrets of bundles have a step kind of their own, and core objects may
/// come without a version.
#[must_use]
pub fn object_kind(resource: &StepResource) -> Gvk {
    let StepResource { group, version, kind, .. } = resource;
    match (group.as_str(), version.as_str(), kind.as_str()) {
        (_, _, BUNDLE_SECRET) => Gvk::new("", "v1", "Secret"),
        ("", "", kind) => Gvk::new("", "v1", kind),
        (group, version, kind) => Gvk::new(group, version, kind),
    }
}

/// Appends a step for every object that is not a CSV.
pub(super) fn append(
    sink: &mut StepSink<'_>,
    bundle: &str,
    objects: &[String],
) -> Result<(), BundleError> {
    let mut meter = Meter::per_document(Budget::OBJECT);
    for (index, json) in objects.iter().enumerate() {
        let problem =
            |problem: String| BundleError::Object { name: bundle.to_owned(), index, problem };
        let object = document::json(json.as_bytes(), &mut meter);
        let object = object.map_err(|error| problem(error.to_string()))?;
        let kind = checked_kind(&object).map_err(|text| problem(text.to_owned()))?;
        if kind != "ClusterServiceVersion" {
            sink.push_object(step_kind(&object, kind), &object)?;
        }
    }
    Ok(())
}

/// The kind of an object. Its `apiVersion` may be missing: core kinds are known without.
fn checked_kind(object: &Value) -> Result<&str, &'static str> {
    if !object.is_object() {
        return Err("is not a JSON object");
    }
    let kind = object.get("kind").and_then(Value::as_str).filter(|text| !text.is_empty());
    kind.ok_or("kind is missing")
}

fn step_kind<'a>(object: &Value, kind: &'a str) -> &'a str {
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if ["", "v1"].contains(&version) && kind == "Secret" { BUNDLE_SECRET } else { kind }
}
