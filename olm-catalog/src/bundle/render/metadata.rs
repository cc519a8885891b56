//! The folder `metadata` of a bundle: annotations, dependencies and properties.
//!
//! As in `opm`, what a file holds counts and not its name; of several files with the same, the
//! first counts. Unlike there, a file that means to hold one of the three and has the wrong form is
//! refused: what a bundle needs must not be lost without a word.

use std::path::{Path, PathBuf};

use olm_types::document::{self, Budget, Meter};
use serde_json::Value;
use thiserror::Error;

use super::files::{FileError, Files};
use crate::bundle::{AnnotationsError, BundleAnnotations};
use crate::fbc::{FieldError, Fields, RawProperty};

/// Fields of documents, each of which has a file that is named after it.
const ANNOTATIONS: &str = "annotations";
const DEPENDENCIES: &str = "dependencies";
const PROPERTIES: &str = "properties";

/// The metadata of a bundle cannot be used.
#[derive(Debug, Error)]
pub enum MetadataError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file is not YAML or JSON, or no object.
    #[error("{}: {}", .0.display(), .1)]
    Syntax(PathBuf, String),
    /// The annotations have the wrong form.
    #[error("{}: {}", .0.display(), .1)]
    Annotations(PathBuf, #[source] AnnotationsError),
    /// A field has the wrong form.
    #[error("{}: {}", .0.display(), .1)]
    Field(PathBuf, #[source] FieldError),
    /// No file has annotations.
    #[error("Could not find annotations file: {} needs annotations.yaml", .0.display())]
    NoAnnotations(PathBuf),
    /// The annotations do not say which package the bundle is of.
    #[error("{} has no annotation {:?}", .0.display(), olm_types::annotations::BUNDLE_PACKAGE)]
    NoPackage(PathBuf),
}

/// What the files say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) annotations: BundleAnnotations,
    /// Package of the annotations.
    pub(super) package: String,
    pub(super) dependencies: Vec<RawProperty>,
    pub(super) properties: Vec<RawProperty>,
}

/// Reads the metadata of a bundle.
///
/// # Errors
/// See [`MetadataError`].
pub(super) fn read(files: &Files<'_>) -> Result<Metadata, MetadataError> {
    let folder = files.part("metadata");
    let mut metadata = Metadata::default();
    let mut annotated = None;
    for path in files.list(&folder)? {
        let Some(document) = document(&path, &files.content(&path)?)? else { continue };
        metadata.take(&path, document, &mut annotated)?;
    }
    let path = annotated.ok_or(MetadataError::NoAnnotations(folder))?;
    metadata.package = metadata.annotations.package.clone().unwrap_or_default();
    if metadata.package.is_empty() { Err(MetadataError::NoPackage(path)) } else { Ok(metadata) }
}

/// The first document of a file, if it is an object. Files of other names may hold anything.
fn document(path: &Path, content: &[u8]) -> Result<Option<Value>, MetadataError> {
    let wrong = |message: String| match path.file_stem().and_then(|stem| stem.to_str()) {
        Some(ANNOTATIONS | DEPENDENCIES | PROPERTIES) => {
            Err(MetadataError::Syntax(path.to_owned(), message))
        }
        _ => Ok(None),
    };
    match document::first(content, &mut Meter::in_all(Budget::PROPERTY)) {
        Ok(Value::Null) => Ok(None),
        Ok(document @ Value::Object(_)) => Ok(Some(document)),
        Ok(_) => wrong("expected an object".to_owned()),
        Err(error) => wrong(error.to_string()),
    }
}

impl Metadata {
    fn take(
        &mut self,
        path: &Path,
        document: Value,
        annotated: &mut Option<PathBuf>,
    ) -> Result<(), MetadataError> {
        let wrong = |error| MetadataError::Field(path.to_owned(), error);
        if annotated.is_none() && document.get(ANNOTATIONS).is_some_and(|it| !it.is_null()) {
            let annotations = BundleAnnotations::of_document(&document)
                .map_err(|error| MetadataError::Annotations(path.to_owned(), error))?;
            if annotations.says_something() {
                self.annotations = annotations;
                *annotated = Some(path.to_owned());
            }
        }
        let mut fields = Fields::nested(document, String::new()).map_err(wrong)?;
        for (name, list) in
            [(DEPENDENCIES, &mut self.dependencies), (PROPERTIES, &mut self.properties)]
        {
            let found = typed_values(&mut fields, name).map_err(wrong)?;
            if list.is_empty() {
                *list = found;
            }
        }
        Ok(())
    }
}

/// A list of types and values.
pub(super) fn typed_values(
    fields: &mut Fields,
    name: &str,
) -> Result<Vec<RawProperty>, FieldError> {
    fields.objects(name, |mut item| {
        let kind = item.text("type")?;
        if kind.is_empty() {
            return Err(item.missing("type"));
        }
        let value = item.required("value")?;
        check(&kind, &value, item.path_of("value"))?;
        Ok(RawProperty { kind, value })
    })
}

/// Refuses values of known types in which a field has the wrong type.
fn check(kind: &str, value: &Value, path: String) -> Result<(), FieldError> {
    let texts: &[&str] = match kind {
        "olm.gvk" => &["group", "version", "kind"],
        "olm.package" => &["packageName", "version", "release"],
        _ => return Ok(()),
    };
    let mut fields = Fields::nested(value.clone(), path)?;
    texts.iter().try_for_each(|name| fields.text(name).map(drop))
}
