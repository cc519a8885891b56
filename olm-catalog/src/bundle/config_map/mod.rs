//! The ConfigMap that a bundle is unpacked into (spec catalog-operator 5).
//!
//! ```text
//! manifests/ metadata/ --write--> ConfigMap --read--> CSV, objects
//! ```
//! Keys are names of files, values their content, plain in `data` or compressed in `binaryData`.
//! Both directions are pure. A ConfigMap that is read may come from v0 or from a hostile writer.

mod gzip;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use gzip::GzipError;
pub use read::{ReadError, Skipped, UnpackedBundle, UnpackedObject, bytes, files, read};
pub use write::{BundleFile, BundleFolder, DATA_BYTES, Encoding, Options, WriteError, write};
