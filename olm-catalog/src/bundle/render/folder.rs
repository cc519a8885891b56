//! A bundle in the format registry+v1: folders `manifests/` and `metadata/`, on a disk or in an
//! image.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use olm_types::document::{self, Budget, Meter};
use serde_json::Value;
use thiserror::Error;

use super::files::{self, FileError, Files};
use super::metadata::{self, Metadata, MetadataError};
use super::properties::released;
use super::template::ImageTemplate;
use super::{Parts, RenderError, apis, is_csv};
use crate::bundle::BundleAnnotations;
use crate::fbc::{Blob, Fields, Located, Origin, Problems, RawProperty};
#[cfg(feature = "image")]
use crate::image::Tree;
use crate::index::single_bundle;
use crate::registry::proto;

/// On a CSV: a list of further properties.
const PROPERTIES: &str = "olm.properties";

/// A folder or an image makes no bundle.
#[derive(Debug, Error)]
pub enum BundleError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The metadata cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// An image holds something else.
    #[error(
        "the image {0:?} holds no bundle: folders manifests and metadata are not in it. An image \
         of a catalog is rendered from the folder that was copied out of it"
    )]
    NoBundle(String),
    /// There is no manifest.
    #[error("no bundle objects found in {}", .0.display())]
    Empty(PathBuf),
    /// The manifests make no bundle.
    #[error("{}: {}", .0.display(), .1)]
    Render(PathBuf, #[source] RenderError),
    /// The bundle can be rendered and is not valid.
    #[error(transparent)]
    Invalid(Problems),
}

/// A bundle as its files describe it.
#[derive(Clone, Debug, PartialEq)]
pub struct RegistryV1 {
    /// Where it comes from, as it was named.
    origin: PathBuf,
    annotations: BundleAnnotations,
    parts: Parts,
}

/// Whether a folder looks like a bundle: it has `manifests` and `metadata`.
pub fn is_bundle(folder: &Path) -> bool {
    ["manifests", "metadata"].iter().all(|part| folder.join(part).is_dir())
}

impl RegistryV1 {
    /// Reads a bundle folder. A manifest that is no Kubernetes object is passed over with a
    /// warning, and of several CSVs the first counts, as in `opm`.
    ///
    /// # Errors
    /// A file cannot be read, there is no CSV or no annotation, or a file has the wrong form.
    pub fn read(folder: &Path) -> Result<Self, BundleError> {
        Self::of(&Files::of_folder(folder)?, folder)
    }

    /// Reads the bundle in an image, like [`Self::read`]. The bundle says that it is in the image
    /// of this name.
    ///
    /// # Errors
    /// As [`Self::read`].
    #[cfg(feature = "image")]
    pub fn of_image(tree: &Tree, name: &str) -> Result<Self, BundleError> {
        if !["manifests", "metadata"].iter().all(|part| tree.is_folder(part)) {
            return Err(BundleError::NoBundle(name.to_owned()));
        }
        let mut bundle = Self::of(&Files::Image(tree), Path::new(name))?;
        bundle.set_image(name);
        Ok(bundle)
    }

    fn of(files: &Files<'_>, origin: &Path) -> Result<Self, BundleError> {
        let objects = objects(files)?;
        let Metadata { annotations, package, dependencies, properties } = metadata::read(files)?;
        let parts = Parts { package, objects, dependencies, properties, ..Parts::default() };
        let mut bundle = Self { origin: origin.to_owned(), annotations, parts };
        bundle.derive()?;
        Ok(bundle)
    }

    /// The package it belongs to.
    pub fn package(&self) -> &str {
        &self.parts.package
    }

    /// What the bundle says about itself.
    pub fn annotations(&self) -> &BundleAnnotations {
        &self.annotations
    }

    /// Says which image the bundle is in.
    pub fn set_image(&mut self, image: &str) {
        image.clone_into(&mut self.parts.image);
    }

    /// Says which image the bundle will be in, by a pattern of image references.
    ///
    /// # Errors
    /// The manifests make no bundle.
    pub fn set_image_by(&mut self, template: &ImageTemplate) -> Result<(), BundleError> {
        let csv = self.parts.csv().map_err(|error| self.refused(error))?;
        let package = self.parts.properties.iter().find(|it| it.kind == "olm.package");
        let version = package.and_then(|it| it.value.get("version")?.as_str());
        let version = version.unwrap_or(csv.version);
        self.parts.image = template.fill(&self.parts.package, csv.name, version);
        Ok(())
    }

    /// The blob of the bundle, manifests included.
    ///
    /// # Errors
    /// The manifests make no bundle.
    pub fn blob(&self) -> Result<Value, BundleError> {
        let csv = self.parts.csv().map_err(|error| self.refused(error))?;
        let owned = apis::check_owned_apis(&self.parts.objects, csv.object);
        owned.and_then(|()| self.parts.blob()).map_err(|error| self.refused(error))
    }

    /// The bundle as a message of the registry protocol, in no channel.
    ///
    /// # Errors
    /// The manifests make no bundle, or something is wrong with it.
    pub fn message(&self) -> Result<proto::Bundle, BundleError> {
        let blob = Blob::from_value(self.blob()?);
        let blob = blob.map_err(|error| self.refused(RenderError::Blob(error)))?;
        let Blob::Bundle(item) = blob else {
            return Err(self.refused(RenderError::Csvs(0)));
        };
        let origin = Origin { file: Arc::from(self.origin.as_path()), document: 1 };
        single_bundle(Located { origin, item }).map_err(BundleError::Invalid)
    }

    /// Adds the properties that follow from the CSV: its package and version, and those of its
    /// annotation.
    fn derive(&mut self) -> Result<(), BundleError> {
        let csv = self.parts.csv().map_err(|error| self.refused(error))?;
        let value = released(&self.parts.package, csv.version, csv.release());
        let mut derived = vec![RawProperty { kind: "olm.package".to_owned(), value }];
        let annotation = csv.object.pointer("/metadata/annotations");
        if let Some(text) = annotation.and_then(|it| it.get(PROPERTIES)?.as_str()) {
            let wrong = |message| RenderError::Annotation(csv.name.to_owned(), message);
            derived.extend(annotated(text).map_err(|error| self.refused(wrong(error)))?);
        }
        for property in std::mem::take(&mut self.parts.properties).into_iter().chain(derived) {
            if !self.parts.properties.contains(&property) {
                self.parts.properties.push(property);
            }
        }
        Ok(())
    }

    fn refused(&self, error: RenderError) -> BundleError {
        BundleError::Render(self.origin.clone(), error)
    }
}

/// The properties in the annotation of a CSV.
fn annotated(text: &str) -> Result<Vec<RawProperty>, String> {
    let list = document::json(text.as_bytes(), &mut Meter::in_all(Budget::PROPERTY));
    let list = list.map_err(|error| error.to_string())?;
    let object = Value::Object([(PROPERTIES.to_owned(), list)].into_iter().collect());
    let mut fields = Fields::nested(object, String::new()).map_err(|error| error.to_string())?;
    metadata::typed_values(&mut fields, PROPERTIES).map_err(|error| error.to_string())
}

/// The first document of each file that is a Kubernetes object, with one CSV.
fn objects(files: &Files<'_>) -> Result<Vec<Value>, BundleError> {
    let folder = files.part("manifests");
    let (mut objects, mut has_csv) = (Vec::new(), false);
    let mut meter = Meter::in_all(Budget::BUNDLE);
    for path in files.list(&folder)? {
        if files::name(&path).starts_with('.') {
            continue;
        }
        let document = document::first(&files.content(&path)?, &mut meter);
        let object = match document {
            Ok(object) if object.get("kind").is_some_and(|kind| kind.is_string()) => object,
            Ok(_) => {
                tracing::warn!(file = %path.display(), "it is no Kubernetes object and left out");
                continue;
            }
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "it cannot be read and is left out");
                continue;
            }
        };
        if is_csv(&object) && std::mem::replace(&mut has_csv, true) {
            continue;
        }
        objects.push(object);
    }
    if objects.is_empty() { Err(BundleError::Empty(folder)) } else { Ok(objects) }
}
