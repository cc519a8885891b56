//! Properties of a bundle: known types are read, the rest is kept.

use olm_types::gvk::Gvk;
use serde_json::Value;
use thiserror::Error;

use super::blob::RawProperty;
use super::fields::{FieldError, Fields};

/// Properties of a bundle, sorted by what they are for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypedProperties {
    /// All but manifests and CSV metadata, in catalog order.
    pub all: Vec<RawProperty>,
    /// `olm.package`; a valid bundle has exactly one.
    pub packages: Vec<PackageValue>,
    /// `olm.gvk`.
    pub provided: Vec<Gvk>,
    /// `olm.gvk.required`.
    pub required: Vec<Gvk>,
    /// `olm.package.required`.
    pub required_packages: Vec<RequiredPackage>,
    /// `olm.csv.metadata`.
    pub csv_metadata: Vec<Value>,
}

/// Value of `olm.package`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageValue {
    /// Name of the package.
    pub package_name: String,
    /// Version of the bundle.
    pub version: String,
    /// Release of the bundle; usually empty.
    pub release: String,
}

/// Value of `olm.package.required`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredPackage {
    /// Name of the package.
    pub package_name: String,
    /// Versions that will do.
    pub version_range: String,
}

/// A property of a known type with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("parse property[{index}] of type {kind:?}: {source}")]
pub struct PropertyError {
    index: usize,
    kind: String,
    source: FieldError,
}

/// Sorts properties; the second value holds the base64 texts of the manifests.
pub(super) fn sort(
    properties: Vec<RawProperty>,
) -> Result<(TypedProperties, Vec<String>), PropertyError> {
    let mut typed = TypedProperties::default();
    let mut manifests = Vec::new();
    for (index, property) in properties.into_iter().enumerate() {
        let kind = property.kind.clone();
        typed.take(property, &mut manifests).map_err(|source| PropertyError {
            index,
            kind,
            source,
        })?;
    }
    Ok((typed, manifests))
}

impl TypedProperties {
    fn take(
        &mut self,
        property: RawProperty,
        manifests: &mut Vec<String>,
    ) -> Result<(), FieldError> {
        match property.kind.as_str() {
            "olm.bundle.object" => {
                manifests.push(Fields::root(property.value)?.text("data")?);
                return Ok(());
            }
            "olm.csv.metadata" => {
                Fields::check(&property.value)?;
                self.csv_metadata.push(property.value);
                return Ok(());
            }
            "olm.package" => self.packages.push(package(&property)?),
            "olm.gvk" => self.provided.push(gvk(&property)?),
            "olm.gvk.required" => self.required.push(gvk(&property)?),
            "olm.package.required" => self.required_packages.push(required_package(&property)?),
            _ => {}
        }
        self.all.push(property);
        Ok(())
    }
}

fn package(property: &RawProperty) -> Result<PackageValue, FieldError> {
    let mut fields = Fields::root(property.value.clone())?;
    Ok(PackageValue {
        package_name: fields.text("packageName")?,
        version: fields.text("version")?,
        release: fields.text("release")?,
    })
}

fn required_package(property: &RawProperty) -> Result<RequiredPackage, FieldError> {
    let mut fields = Fields::root(property.value.clone())?;
    Ok(RequiredPackage {
        package_name: fields.text("packageName")?,
        version_range: fields.text("versionRange")?,
    })
}

fn gvk(property: &RawProperty) -> Result<Gvk, FieldError> {
    let mut fields = Fields::root(property.value.clone())?;
    Ok(Gvk {
        group: fields.text("group")?,
        kind: fields.text("kind")?,
        version: fields.text("version")?,
    })
}
