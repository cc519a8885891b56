//! The digest of a catalog's files: path and content of each, in the order of paths.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::ReadError;
use super::limits::ReadLimits;
use super::walk::files;

/// How much of a file is read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// SHA-256 over everything that a catalog is made from, in hexadecimal.
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
pub(super) struct Sources(Sha256);

impl Sources {
    /// Adds a file that was read to its end.
    pub(super) fn add(&mut self, relative: &Path, content: &FileDigest) {
        let name = relative.as_os_str().as_encoded_bytes();
        self.0.update(name.len().to_le_bytes());
        self.0.update(name);
        self.0.update(content.0);
    }

    pub(super) fn finish(self) -> SourceDigest {
        SourceDigest(hex(&self.0.finalize()))
    }
}

/// SHA-256 over the content of one file.
pub(super) struct FileDigest([u8; 32]);

/// Hashes what is read through it.
pub(super) struct Hashed<R> {
    input: R,
    hash: Sha256,
}

impl<R> Hashed<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, hash: Sha256::new() }
    }

    /// The digest of what was read.
    pub(super) fn finish(self) -> FileDigest {
        FileDigest(self.hash.finalize().into())
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hash.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
