//! Makes an `olm.bundle` blob, manifests included, from a bundle: from its manifests alone, or from
//! a folder in the format registry+v1 (spec catalog-operator 6.6). The result is that of
//! `opm render`, in its order.

mod apis;
mod csv_metadata;
mod files;
mod folder;
mod images;
mod metadata;
mod properties;
mod template;

pub use csv_metadata::{Migration, MigrationError, migrate};
pub use folder::{BundleError, RegistryV1, is_bundle};
pub use metadata::MetadataError;
pub use template::{ImageTemplate, TemplateError};

use serde_json::{Value, json};
use thiserror::Error;

use super::manifests::Manifest;
use crate::fbc::{FieldError, RawProperty};

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
    /// The CSV owns a version of a CRD that is not there.
    #[error(
        "the ClusterServiceVersion owns the CRD {0:?}, version {1:?}, of which there is no manifest"
    )]
    NoApi(String, String),
    /// The CSV names a CRD by a name that none can have.
    #[error("the name {0:?} of a CRD has no dot: it must be PLURAL.GROUP")]
    CrdName(String),
    /// A field of the CSV has the wrong form.
    #[error("the ClusterServiceVersion {0:?}: {1}")]
    Field(String, FieldError),
    /// A field of the blob has the wrong form.
    #[error(transparent)]
    Blob(FieldError),
    /// The annotation with further properties cannot be read.
    #[error("the ClusterServiceVersion {0:?}: annotation olm.properties: {1}")]
    Annotation(String, String),
}

/// What a blob is made from.
#[derive(Clone, Debug, Default, PartialEq)]
struct Parts {
    package: String,
    /// Bundle image; may be empty.
    image: String,
    /// Every manifest, the CSV among them.
    objects: Vec<Value>,
    /// What files and annotations say about the bundle.
    properties: Vec<RawProperty>,
    /// What the bundle needs, in the older form.
    dependencies: Vec<RawProperty>,
}

/// The blob of a bundle of `package`. Properties follow from the manifests: its version, the APIs
/// of its CRDs and owned API services, and the APIs it requires.
///
/// # Errors
/// There is not exactly one CSV, it has no name or version, or a CRD that it owns is missing.
pub fn render(package: &str, manifests: &[Manifest]) -> Result<Value, RenderError> {
    let csvs = manifests.iter().filter(|manifest| is_csv(&manifest.object)).count();
    if csvs != 1 {
        return Err(RenderError::Csvs(csvs));
    }
    let objects = manifests.iter().map(|manifest| manifest.object.clone()).collect();
    let parts = Parts { package: package.to_owned(), objects, ..Parts::default() };
    apis::check_owned_crds(&parts.objects, parts.csv()?.object)?;
    parts.blob()
}

impl Parts {
    /// The first CSV, whose name and version are known.
    fn csv(&self) -> Result<Csv<'_>, RenderError> {
        let object = self.objects.iter().find(|object| is_csv(object));
        let object = object.ok_or(RenderError::Csvs(0))?;
        let text = |path| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (name, version) = (text("/metadata/name"), text("/spec/version"));
        for (value, field) in [(name, "name"), (version, "spec.version")] {
            if value.is_empty() {
                return Err(RenderError::Missing(name.to_owned(), field));
            }
        }
        Ok(Csv { object, name, version })
    }

    fn blob(&self) -> Result<Value, RenderError> {
        let csv = self.csv()?;
        let properties = properties::all(self, &csv)?.into_iter();
        let properties = properties.map(|it| json!({ "type": it.kind, "value": it.value }));
        let images = images::related(csv.object, &self.image)
            .map_err(|error| RenderError::Field(csv.name.to_owned(), error))?;
        Ok(json!({
            "schema": "olm.bundle",
            "package": self.package,
            "name": csv.name,
            "image": self.image,
            "properties": properties.collect::<Vec<_>>(),
            "relatedImages": images,
        }))
    }
}

/// A CSV with what every bundle needs of it.
struct Csv<'a> {
    object: &'a Value,
    name: &'a str,
    version: &'a str,
}

impl Csv<'_> {
    /// Release within the version; a number may be given, too. Usually empty.
    fn release(&self) -> String {
        match self.object.pointer("/spec/release") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }
}

fn is_csv(object: &Value) -> bool {
    object.get("kind").and_then(Value::as_str) == Some("ClusterServiceVersion")
}
