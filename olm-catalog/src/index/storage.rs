//! The bytes of an index: written once from front to back, then read by position.
//!
//! ```text
//! magic | records ... | table of contents | place and length of the table | XXH3 of all before
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::error::IndexError;

/// Begins every index. The number changes with the form of records and table.
const MAGIC: &[u8; 16] = b"olm-rs index 03\n";

/// Length of the digest, in bytes. It finds damage; see `fbc::SourceDigest` for what it does not.
const DIGEST: usize = 16;

/// Length of what follows the table of contents, in bytes.
const TRAILER: usize = 16 + DIGEST;

/// How much is hashed at once, in bytes.
const CHUNK: usize = 256 << 10;

/// Place and length of a record, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span(u64, u64);

impl Span {
    #[cfg(test)]
    pub(super) fn new(place: u64, length: u64) -> Self {
        Self(place, length)
    }

    /// Length in bytes.
    pub(super) fn len(self) -> u64 {
        self.1
    }

    /// This record and the one that was written next.
    pub(super) fn joined(self, next: Self) -> Self {
        if self.1 == 0 { next } else { Self(self.0, self.1.saturating_add(next.1)) }
    }

    /// Leaves bytes at the front out.
    pub(super) fn advance(&mut self, count: u64) {
        self.0 = self.0.saturating_add(count);
        self.1 = self.1.saturating_sub(count);
    }
}

/// A finished index.
#[derive(Debug)]
pub(super) enum Storage {
    /// The file and its size in bytes.
    File(File, u64),
    Memory(Vec<u8>),
}

impl Storage {
    /// The bytes of a record.
    pub(super) fn read(&self, span: Span) -> io::Result<Vec<u8>> {
        let end = span.0.checked_add(span.1);
        if end.is_none_or(|end| end > self.size()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; usize::try_from(span.1).map_err(io::Error::other)?];
        self.read_into(span, &mut bytes)?;
        Ok(bytes)
    }

    /// As many bytes of a record, from its front, as the buffer has.
    pub(super) fn read_into(&self, span: Span, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file, _) => read_exact_at(file, buffer, span.0),
            Self::Memory(all) => {
                let start = usize::try_from(span.0).map_err(io::Error::other)?;
                let bytes = all.get(start..).and_then(|rest| rest.get(..buffer.len()));
                buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::File(_, size) => *size,
            Self::Memory(all) => all.len() as u64,
        }
    }

    /// Opens an index file after a look at every byte of it; also gives its table of contents.
    pub(super) fn open(mut file: File) -> Result<(Self, Vec<u8>), IndexError> {
        let size = file.seek(SeekFrom::End(0))?;
        let trailer_at = size.checked_sub(TRAILER as u64);
        let trailer_at = trailer_at.ok_or(IndexError::Damaged("it is too short"))?;
        let mut trailer = [0; TRAILER];
        read_exact_at(&file, &mut trailer, trailer_at)?;
        let (table, digest) = trailer.split_at(TRAILER - DIGEST);
        if hash_file(&mut file, size - DIGEST as u64)? != digest {
            return Err(IndexError::Damaged("its digest is another"));
        }
        let mut magic = [0; MAGIC.len()];
        read_exact_at(&file, &mut magic, 0)?;
        if magic != *MAGIC {
            return Err(IndexError::Damaged("it has another form"));
        }
        let (at, length) = table.split_at(size_of::<u64>());
        let table = Span(number(at), number(length));
        if table.0.checked_add(table.1) != Some(trailer_at) {
            return Err(IndexError::Damaged("its table of contents is misplaced"));
        }
        let storage = Self::File(file, size);
        let table = storage.read(table)?;
        Ok((storage, table))
    }
}

/// Fills the buffer from this place on, whatever position the file has.
#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, at)?;
        let rest = std::mem::take(&mut buffer).split_at_mut_checked(count).filter(|_| count > 0);
        (_, buffer) = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
        at = at.saturating_add(count as u64);
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn hash_file(file: &mut File, size: u64) -> io::Result<[u8; DIGEST]> {
    file.seek(SeekFrom::Start(0))?;
    let mut hash = Xxh3Default::new();
    let mut buffer = vec![0; CHUNK];
    let mut input = file.take(size);
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return Ok(hash.digest128().to_le_bytes());
        }
        hash.update(buffer.get(..count).unwrap_or_default());
    }
}

/// An index that is being written.
pub(super) struct Writer {
    output: Output,
    at: u64,
    hash: Xxh3Default,
}

#[derive(Debug)]
enum Output {
    File(BufWriter<File>),
    Memory(Vec<u8>),
}

impl Writer {
    /// Writes to an empty file that can be read, too, or to memory.
    pub(super) fn new(file: Option<File>) -> io::Result<Self> {
        let output = match file {
            Some(file) => Output::File(BufWriter::with_capacity(CHUNK, file)),
            None => Output::Memory(Vec::new()),
        };
        let mut writer = Self { output, at: 0, hash: Xxh3Default::new() };
        writer.append(MAGIC)?;
        Ok(writer)
    }

    /// Adds a record.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<Span> {
        match &mut self.output {
            Output::File(file) => file.write_all(bytes)?,
            Output::Memory(memory) => memory.extend_from_slice(bytes),
        }
        self.hash.update(bytes);
        let span = Span(self.at, bytes.len() as u64);
        self.at = self.at.saturating_add(span.1);
        Ok(span)
    }

    /// Adds the table of contents and all that follows it.
    pub(super) fn finish(mut self, table: &[u8]) -> io::Result<Storage> {
        let table = self.append(table)?;
        self.append(&table.0.to_le_bytes())?;
        self.append(&table.1.to_le_bytes())?;
        let digest = self.hash.digest128().to_le_bytes();
        self.append(&digest)?;
        Ok(match self.output {
            Output::File(file) => {
                Storage::File(file.into_inner().map_err(io::Error::from)?, self.at)
            }
            Output::Memory(memory) => Storage::Memory(memory),
        })
    }
}
