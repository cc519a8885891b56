//! Reads the blobs of all files below a folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::blob::{Blob, Located, Meta, Origin};
use super::error::ReadError;
use super::parse::documents;
use super::walk::{ReadLimits, files};

/// The blobs of every file below `root`, in the order of paths and documents.
///
/// # Errors
/// A file cannot be read, is too large, is not JSON or YAML, or holds something that is no blob.
/// Errors of several files and documents are collected.
pub fn read(root: &Path, limits: &ReadLimits) -> Result<Vec<Located<Blob>>, Vec<ReadError>> {
    let files = files(root, limits).map_err(|error| vec![error])?;
    let mut reader = Reader { root, limits, blobs: Vec::new(), errors: Vec::new() };
    for file in files {
        if !reader.file(&file) {
            break;
        }
    }
    if reader.errors.is_empty() { Ok(reader.blobs) } else { Err(reader.errors) }
}

struct Reader<'a> {
    root: &'a Path,
    limits: &'a ReadLimits,
    blobs: Vec<Located<Blob>>,
    errors: Vec<ReadError>,
}

impl Reader<'_> {
    /// Reads one file; false when reading must stop.
    fn file(&mut self, path: &Path) -> bool {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(source) => return self.failed(ReadError::io(path, source)),
        };
        let relative: Arc<Path> = path.strip_prefix(self.root).unwrap_or(path).into();
        let mut goes_on = true;
        documents(&bytes, |document, content| {
            let origin = Origin { file: Arc::clone(&relative), document };
            goes_on = match content {
                Ok(value) => self.document(origin, value),
                Err(message) => self.failed(ReadError::Syntax { origin, message }),
            };
            goes_on
        });
        goes_on
    }

    fn document(&mut self, origin: Origin, value: Value) -> bool {
        if self.blobs.len() >= self.limits.blobs {
            self.errors.push(ReadError::TooManyBlobs(self.limits.blobs));
            return false;
        }
        let blob = title(&value);
        match Blob::from_value(value) {
            Ok(item) => {
                self.blobs.push(Located { origin, item });
                true
            }
            Err(source) => self.failed(ReadError::Blob { origin, blob, source }),
        }
    }

    fn failed(&mut self, error: ReadError) -> bool {
        self.errors.push(error);
        self.errors.len() < self.limits.errors
    }
}

/// Schema, package and name of a blob, as far as they can be told.
fn title(value: &Value) -> String {
    let Ok(heading) = Meta::heading(value) else {
        return String::new();
    };
    let mut title = heading.schema;
    for (text, before) in [(heading.package, " of package "), (heading.name, " ")] {
        if !text.is_empty() {
            title.push_str(&format!("{before}{text:?}"));
        }
    }
    title
}
