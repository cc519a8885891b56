//! Migrations of `opm render`: manifests give way to what user interfaces show of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use olm_types::api::csv::ClusterServiceVersionSpec;
use olm_types::document::{self, Budget, Meter};
use olm_types::properties::kinds::{BUNDLE_OBJECT, CSV_METADATA};
use olm_types::unset::is_unset;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

/// How far blobs are migrated. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Migration {
    /// Not at all.
    None,
    /// `olm.bundle.object` becomes `olm.csv.metadata`.
    BundleObjectToCsvMetadata,
}

/// A bundle cannot be migrated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("migrate bundle {bundle:?}: {message}")]
pub struct MigrationError {
    bundle: String,
    message: String,
}

/// Migrates a blob. Bundles without an image need their manifests and stay as they are, and so do
/// those that have metadata already.
///
/// # Errors
/// The CSV of the bundle has a field of the wrong form.
pub fn migrate(blob: &mut Value, level: Migration) -> Result<(), MigrationError> {
    if level < Migration::BundleObjectToCsvMetadata || text(blob, "schema") != "olm.bundle" {
        return Ok(());
    }
    let bundle = text(blob, "name").to_owned();
    let without_image = text(blob, "image").is_empty();
    let Some(properties) = blob.get_mut("properties").and_then(Value::as_array_mut) else {
        return Ok(());
    };
    let has_metadata = properties.iter().any(|it| text(it, "type") == CSV_METADATA);
    let Some(csv) = properties.iter().find_map(csv).filter(|_| !without_image && !has_metadata)
    else {
        return Ok(());
    };
    let value =
        metadata(&csv).map_err(|error| MigrationError { bundle, message: error.to_string() })?;
    properties.retain(|it| text(it, "type") != BUNDLE_OBJECT);
    properties.push(json!({ "type": CSV_METADATA, "value": value }));
    Ok(())
}

/// The CSV in a property, if there is one.
fn csv(property: &Value) -> Option<Value> {
    if text(property, "type") != "olm.bundle.object" {
        return None;
    }
    let data = STANDARD.decode(property.pointer("/value/data")?.as_str()?).ok()?;
    let object = document::json(&data, &mut Meter::in_all(Budget::OBJECT)).ok()?;
    (text(&object, "kind") == "ClusterServiceVersion").then_some(object)
}

/// What user interfaces show of a CSV. Empty fields are left out, but for three that never are.
fn metadata(csv: &Value) -> Result<Value, serde_json::Error> {
    let mut spec = csv.get("spec").cloned().unwrap_or_default();
    drop_empty_texts(&mut spec);
    let spec = ClusterServiceVersionSpec::deserialize(&spec)?;
    let mut fields = Map::from_iter([
        ("apiServiceDefinitions".to_owned(), json!(spec.apiservicedefinitions.unwrap_or_default())),
        ("crdDescriptions".to_owned(), json!(spec.customresourcedefinitions.unwrap_or_default())),
        ("provider".to_owned(), json!(spec.provider.unwrap_or_default())),
    ]);
    let of_object = |name: &str| csv.pointer(&format!("/metadata/{name}")).cloned();
    let optional = [
        ("annotations", of_object("annotations").unwrap_or_default()),
        ("description", json!(spec.description)),
        ("displayName", json!(spec.display_name)),
        ("installModes", json!(spec.install_modes)),
        ("keywords", json!(spec.keywords)),
        ("labels", of_object("labels").unwrap_or_default()),
        ("links", json!(spec.links)),
        ("maintainers", json!(spec.maintainers)),
        ("maturity", json!(spec.maturity)),
        ("minKubeVersion", json!(spec.min_kube_version)),
        ("nativeAPIs", json!(spec.native_apis)),
    ];
    for (name, value) in optional {
        if !is_unset(&value) {
            fields.insert(name.to_owned(), value);
        }
    }
    Ok(Value::Object(fields))
}

/// Empty texts are the same as absent ones, but in values that mean nothing here.
fn drop_empty_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| name == "value" || *value != json!(""));
            fields.values_mut().for_each(drop_empty_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_texts),
        _ => {}
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
