//! Values of known property types. Absent members are empty; unknown members are ignored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::kinds;
use crate::bundle::Property;
use crate::document::{Budget, json_as};
use crate::gvk::Gvk;

/// Value of `olm.package`: what a bundle is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PackageProperty {
    /// Name of the package.
    pub package_name: String,
    /// Version of the bundle, as written.
    pub version: String,
    /// Distinguishes bundles of equal version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
}

/// Value of `olm.package.required`: which package is needed, in which versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PackageRequired {
    /// Name of the package.
    pub package_name: String,
    /// Range of versions, as written.
    pub version_range: String,
}

/// Value of `olm.label` and `olm.label.required`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelProperty {
    /// The label.
    pub label: String,
}

/// The value of an `olm.package` property. `None` for other types and malformed values.
pub fn package(property: &Property) -> Option<PackageProperty> {
    typed(property, kinds::PACKAGE)
}

/// The value of an `olm.gvk` property. `None` for other types and malformed values.
pub fn gvk(property: &Property) -> Option<Gvk> {
    typed(property, kinds::GVK)
}

/// The value of an `olm.label` property. `None` for other types and malformed values.
pub fn label(property: &Property) -> Option<String> {
    typed(property, kinds::LABEL).map(|value: LabelProperty| value.label)
}

fn typed<T: DeserializeOwned>(property: &Property, kind: &str) -> Option<T> {
    if &*property.kind != kind {
        return None;
    }
    json_as(&*property.value, &Budget::PROPERTY).ok()
}
