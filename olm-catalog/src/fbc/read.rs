//! Reads the blobs of all files below a folder, one at a time.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use olm_types::document::{Budget, DocumentError};
use serde_json::Value;

use super::blob::{Blob, Located, Meta, Origin};
use super::digest::{SourceDigest, Sources};
use super::error::{CatalogError, ReadError};
use super::fields::FieldError;
use super::pipeline::{Piece, PipelineLimits, pieces};
use super::walk::{SourceFile, files};

/// Why a document is not taken.
pub(super) enum Refusal {
    /// It is no blob; reading goes on.
    Blob(FieldError),
    /// Nothing more is wanted.
    Stop(CatalogError),
}

/// Gives the blobs of every file below `root` to `visit`, in the order of paths and documents.
///
/// # Errors
/// A file cannot be read, is too large, is not JSON or YAML, holds something that is no blob, or
/// changed meanwhile. Errors of several files and documents are collected; an error of `visit`
/// ends the reading.
pub fn read(
    root: &Path,
    limits: &ReadLimits,
    visit: &mut dyn FnMut(Located<Blob>) -> Result<(), CatalogError>,
) -> Result<SourceDigest, CatalogError> {
    read_documents(root, limits, &mut |Located { origin, item }| {
        let item = Blob::from_value(item).map_err(Refusal::Blob)?;
        visit(Located { origin, item }).map_err(Refusal::Stop)
    })
}

/// Like [`read`], with documents as they are.
pub(super) fn read_documents(
    root: &Path,
    limits: &ReadLimits,
    visit: &mut dyn FnMut(Located<Value>) -> Result<(), Refusal>,
) -> Result<SourceDigest, CatalogError> {
    let listing = |error| CatalogError::Unreadable(vec![error]);
    let found = files(root, limits).map_err(listing)?;
    let mut sources = Sources::default();
    let mut reader = Reader { limits, visit, blobs: 0, errors: Vec::new(), failure: None };
    let ReadLimits { blob_bytes: bytes, blob_memory: memory, threads, ahead, .. } = *limits;
    let pipeline =
        PipelineLimits { budget: Budget { bytes, memory, ..Budget::CATALOG }, threads, ahead };
    pieces(&found, pipeline, |file, piece| reader.piece(file, piece, &mut sources));
    reader.result()?;
    if files(root, limits).map_err(listing)? != found {
        return Err(listing(ReadError::Changed(root.to_owned())));
    }
    Ok(sources.finish())
}

struct Reader<'a> {
    limits: &'a ReadLimits,
    visit: &'a mut dyn FnMut(Located<Value>) -> Result<(), Refusal>,
    blobs: usize,
    errors: Vec<ReadError>,
    /// Why `visit` wants no more.
    failure: Option<CatalogError>,
}

impl Reader<'_> {
    fn result(self) -> Result<(), CatalogError> {
        match self.failure {
            Some(failure) => Err(failure),
            None if self.errors.is_empty() => Ok(()),
            None => Err(CatalogError::Unreadable(self.errors)),
        }
    }

    fn piece(
        &mut self,
        source: &SourceFile,
        piece: Piece,
        sources: &mut Sources,
    ) -> ControlFlow<()> {
        let origin = |document| Origin { file: Arc::clone(&source.relative), document };
        match piece {
            Piece::Document(number, Ok(value)) => self.document(origin(number), value),
            Piece::Closed(error) | Piece::Document(_, Err(DocumentError::Io(error))) => {
                self.failed(ReadError::io(&source.path, error))
            }
            Piece::Document(number, Err(error)) => {
                let (origin, message) = (origin(number), error.to_string());
                self.failed(ReadError::Syntax { origin, message })
            }
            Piece::End(digest) => {
                sources.add(&source.relative, &digest);
                ControlFlow::Continue(())
            }
        }
    }

    fn document(&mut self, origin: Origin, value: Value) -> ControlFlow<()> {
        if self.blobs >= self.limits.blobs {
            self.errors.push(ReadError::TooManyBlobs(self.limits.blobs));
            return ControlFlow::Break(());
        }
        if self.limits.until.is_some_and(|until| until <= Instant::now()) {
            self.errors.push(ReadError::Late);
            return ControlFlow::Break(());
        }
        self.blobs = self.blobs.saturating_add(1);
        let blob = title(&value);
        match (self.visit)(Located { origin: origin.clone(), item: value }) {
            Ok(()) => ControlFlow::Continue(()),
            Err(Refusal::Blob(source)) => self.failed(ReadError::Blob { origin, blob, source }),
            Err(Refusal::Stop(failure)) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn failed(&mut self, error: ReadError) -> ControlFlow<()> {
        self.errors.push(error);
        if self.errors.len() < self.limits.errors {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Schema, package and name of a blob, as far as they can be read.
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

/// Bounds of reading a catalog. Memory is bounded by `blob_bytes` and `blob_memory`, for each document that is in hand,
/// and by `names`; the others bound time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Largest document, in bytes.
    pub blob_bytes: usize,
    /// What the values of a document may take in memory, in bytes.
    pub blob_memory: usize,
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// All files together, in bytes.
    pub total_bytes: u64,
    /// Most files.
    pub files: usize,
    /// Most nested folders.
    pub depth: usize,
    /// Most blobs.
    pub blobs: usize,
    /// Most errors that are collected before reading stops.
    pub errors: usize,
    /// What names, channels and problems may take in memory while the catalog is read, in bytes.
    pub names: usize,
    /// Most threads that parse. One more document than [`Self::ahead`] says is in hand of each, and another one is
    /// looked into.
    pub threads: usize,
    /// Documents that wait for whoever looks into them, of each thread.
    pub ahead: usize,
    /// When reading ends, whatever was read by then.
    pub until: Option<Instant>,
}

impl ReadLimits {
    /// Bounds for a program that does more than this: the values of the two documents that are in hand at a time fit
    /// into 32 MiB.
    pub const BESIDE: Self = Self {
        blob_bytes: 8 << 20,
        blob_memory: 16 << 20,
        file_bytes: 256 << 20,
        total_bytes: 512 << 20,
        files: 100_000,
        depth: 32,
        blobs: 100_000,
        errors: 20,
        names: 64 << 20,
        threads: 1,
        ahead: 0,
        until: None,
    };
}

impl Default for ReadLimits {
    /// Several times what the largest published catalogs need.
    fn default() -> Self {
        Self {
            blob_bytes: 64 << 20,
            blob_memory: 256 << 20,
            file_bytes: 2 << 30,
            total_bytes: 4 << 30,
            files: 100_000,
            depth: 32,
            blobs: 500_000,
            errors: 100,
            names: 1 << 30,
            threads: 4,
            ahead: 2,
            until: None,
        }
    }
}
