//! Properties from the older forms of the registry protocol: dependencies and API lists.

use olm_types::bundle::Property;
use olm_types::document::{Budget, DocumentError, json_as};
use olm_types::gvk::Gvk;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::intern::Interner;
use crate::registry::proto;

/// A dependency in the older form cannot be understood.
#[derive(Debug, Error)]
#[error("dependency {index} of type {kind:?} is malformed")]
pub(super) struct DependencyError {
    index: usize,
    kind: String,
    #[source]
    source: DocumentError,
}

/// Value of an `olm.package` dependency.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PackageDependency {
    package_name: String,
    version: String,
}

/// Value of `olm.package.required`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageRequired {
    package_name: String,
    version_range: String,
}

/// Value of an `olm.label` dependency and of `olm.label.required`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct LabelValue {
    label: String,
}

/// The properties that say the same as `dependencies`. Unknown types say nothing.
///
/// # Errors
/// A dependency of a known type whose value is not the JSON object of that type.
pub(super) fn from_dependencies(
    dependencies: &[proto::Dependency],
    interner: &mut Interner,
) -> Result<Vec<Property>, DependencyError> {
    let mut properties = Vec::new();
    for (index, dependency) in dependencies.iter().enumerate() {
        let translated = translate(dependency).map_err(|source| DependencyError {
            index,
            kind: dependency.r#type.clone(),
            source,
        })?;
        if let Some((kind, value)) = translated {
            properties.push(property(kind, &value, interner));
        }
    }
    Ok(properties)
}

/// A property of type `kind` for each API, sorted by value. Plural names are left out.
pub(super) fn from_apis(
    kind: &str,
    apis: &[proto::GroupVersionKind],
    interner: &mut Interner,
) -> Vec<Property> {
    let mut properties: Vec<Property> =
        apis.iter().filter_map(api_value).map(|value| property(kind, &value, interner)).collect();
    properties.sort();
    properties
}

/// The `olm.package` property of a bundle that came without one.
pub(super) fn package_property(package: &str, version: &str, interner: &mut Interner) -> Property {
    let value = serde_json::json!({ "packageName": package, "version": version });
    property("olm.package", &value.to_string(), interner)
}

fn translate(
    dependency: &proto::Dependency,
) -> Result<Option<(&'static str, String)>, DocumentError> {
    let value = dependency.value.as_str();
    Ok(Some(match dependency.r#type.as_str() {
        "olm.gvk" => {
            let api: Gvk = json_as(value, &Budget::PROPERTY)?;
            ("olm.gvk.required", serde_json::to_string(&api).map_err(DocumentError::Json)?)
        }
        "olm.package" => {
            let PackageDependency { package_name, version } = json_as(value, &Budget::PROPERTY)?;
            let required = PackageRequired { package_name, version_range: version };
            ("olm.package.required", serde_json::to_string(&required).map_err(DocumentError::Json)?)
        }
        "olm.label" => {
            let label: LabelValue = json_as(value, &Budget::PROPERTY)?;
            ("olm.label.required", serde_json::to_string(&label).map_err(DocumentError::Json)?)
        }
        "olm.constraint" => ("olm.constraint", value.to_owned()),
        _ => return Ok(None),
    }))
}

fn api_value(api: &proto::GroupVersionKind) -> Option<String> {
    serde_json::to_string(&Gvk::new(&api.group, &api.version, &api.kind)).ok()
}

fn property(kind: &str, value: &str, interner: &mut Interner) -> Property {
    Property { kind: interner.text(kind), value: interner.text(value) }
}
