//! The package of a CSV, as its step names it.

use std::collections::BTreeMap;

use olm_types::annotations::PROPERTIES;
use olm_types::api::Step;
use olm_types::document::{Budget, json_as};
use olm_types::properties::{annotation, value};
use serde::Deserialize;
use serde_json::Value;

use crate::unpack::BundleReference;

/// The package that the properties of a CSV step name; nothing when they name none.
pub(crate) fn of_step(step: &Step) -> Option<String> {
    let manifest = step.resource.manifest.as_deref()?;
    let text = match BundleReference::parse(manifest) {
        Some(reference) => reference.properties,
        None => properties_of(manifest)?,
    };
    let properties = annotation::parse(&text).ok()?;
    properties.iter().find_map(value::package).map(|property| property.package_name)
}

/// What is read of a CSV; the rest may be large, and is passed over.
#[derive(Deserialize)]
struct Csv {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: BTreeMap<String, Value>,
}

fn properties_of(csv: &str) -> Option<String> {
    let csv: Csv = json_as(csv, &Budget::OBJECT).ok()?;
    csv.metadata.annotations.get(PROPERTIES)?.as_str().map(str::to_owned)
}
