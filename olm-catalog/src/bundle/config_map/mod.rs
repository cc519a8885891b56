//! The ConfigMap that a bundle is unpacked into (spec catalog-operator 5).
//!
//! ```text
//! manifests/ metadata/ --write--> ConfigMap --read--> CSV, objects
//! ```
//! Keys are names of files, values their content, plain in `data` or compressed in `binaryData`.
//! Both directions are pure. A ConfigMap that is read may come from v0 or from a hostile writer.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::io::{self, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use thiserror::Error;

pub use read::{ReadError, Skipped, UnpackedBundle, UnpackedObject, bytes, files, read};
pub use write::{BundleFile, BundleFolder, DATA_BYTES, Encoding, Options, WriteError, write};

/// A value cannot be decoded.
#[derive(Debug, Error)]
pub enum GzipError {
    /// It is not base64.
    #[error("the value is not base64: {0}")]
    Base64(#[source] base64::DecodeError),
    /// It is not gzip.
    #[error("the value is not gzip: {0}")]
    Gzip(#[source] io::Error),
    /// It holds more than allowed.
    #[error("the values of all keys hold more than {0} bytes")]
    TooLarge(u64),
}

/// The same content gives the same text, wherever and whenever.
fn encode_gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    Ok(STANDARD.encode(encoder.finish()?).into_bytes())
}

/// At most `limit` bytes come out, and little more memory is used.
fn decode_gzip(text: &[u8], limit: u64) -> Result<Vec<u8>, GzipError> {
    let text: Vec<u8> =
        text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let compressed = STANDARD.decode(text).map_err(GzipError::Base64)?;
    let mut content = Vec::new();
    MultiGzDecoder::new(compressed.as_slice())
        .take(limit.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(GzipError::Gzip)?;
    if content.len() as u64 > limit { Err(GzipError::TooLarge(limit)) } else { Ok(content) }
}
