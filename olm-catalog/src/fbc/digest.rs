//! The digest of a catalog's files: path and content of each, in the order of paths.
//!
//! It distinguishes a changed or damaged catalog from the one that an index was made from, at the
//! speed of memory. It is no defence against forgery: whoever can write one of them can write both.
//! (`opm` uses FNV with 64 bits.)

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

use super::error::ReadError;
use super::read::ReadLimits;
use super::walk::files;

/// How much of a file is read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// XXH3 with 128 bits over everything that a catalog is made from, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SourceDigest(String);

impl SourceDigest {
    /// The digest of the catalog below `root`, without looking into its files.
    ///
    /// # Errors
    /// A file cannot be read, or a limit is exceeded.
    pub fn of(root: &Path, limits: &ReadLimits) -> Result<Self, ReadError> {
        let mut digest = Sources::default();
        let mut buffer = vec![0; CHUNK];
        for file in files(root, limits)? {
            let failed = |source| ReadError::io(&file.path, source);
            let mut input = Hashed::new(File::open(&file.path).map_err(failed)?);
            while input.read(&mut buffer).map_err(failed)? > 0 {}
            digest.add(&file.relative, &input.finish());
        }
        Ok(digest.finish())
    }
}

impl fmt::Display for SourceDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A digest in the making.
#[derive(Default)]
pub(super) struct Sources(Xxh3Default);

impl Sources {
    /// Adds a file that was read to its end.
    pub(super) fn add(&mut self, relative: &Path, content: &FileDigest) {
        let name = relative.as_os_str().as_encoded_bytes();
        self.0.update(&name.len().to_le_bytes());
        self.0.update(name);
        self.0.update(&content.0.to_be_bytes());
    }

    pub(super) fn finish(self) -> SourceDigest {
        SourceDigest(format!("{:032x}", self.0.digest128()))
    }
}

/// The digest of the content of one file.
pub(super) struct FileDigest(u128);

/// Hashes what is read through it.
pub(super) struct Hashed<R> {
    input: R,
    hash: Xxh3Default,
}

impl<R> Hashed<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, hash: Xxh3Default::new() }
    }

    /// The digest of what was read.
    pub(super) fn finish(self) -> FileDigest {
        FileDigest(self.hash.digest128())
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hash.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}
