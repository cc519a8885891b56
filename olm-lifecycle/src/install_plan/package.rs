//! The packages of a CSV, as its step names them: a bundle that channels of several packages lead to has a
//! property for each (catalogs of ConfigMaps).

use std::collections::BTreeMap;

use olm_types::annotations::PROPERTIES;
use olm_types::api::Step;
use olm_types::document::{Budget, json_as};
use olm_types::properties::value::PackageProperty;
use olm_types::properties::{annotation, value};
use serde::Deserialize;
use serde_json::Value;

use crate::unpack::BundleReference;

/// The packages that the properties of a CSV step name; none when they name none.
pub(crate) fn all_of_step(step: &Step) -> Vec<String> {
    properties_of_step(step).into_iter().map(|property| property.package_name).collect()
}

/// The same with the version in each package.
pub(crate) fn properties_of_step(step: &Step) -> Vec<PackageProperty> {
    let manifest = step.resource.manifest.as_deref().unwrap_or_default();
    let text = match BundleReference::parse(manifest) {
        Some(reference) => Some(reference.properties),
        None => properties_of(manifest),
    };
    let properties = text.and_then(|text| annotation::parse(&text).ok()).unwrap_or_default();
    properties.iter().filter_map(value::package).collect()
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
