//! From the files of a bundle to its ConfigMap.

use std::collections::BTreeMap;
use std::io;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use olm_types::annotations;
use thiserror::Error;

use crate::bundle::BundleAnnotations;

use super::encode_gzip;

/// Most bytes of all values as they are stored, by default: about what an API server
/// takes.
pub const DATA_BYTES: u64 = 1 << 20;

/// One file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// Name, without folders.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// What is in a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleFolder {
    /// Content of `annotations.yaml`, if there is one.
    pub annotations: Option<BundleAnnotations>,
    /// Every other file of both folders: manifests first, each folder in the order of names.
    pub files: Vec<BundleFile>,
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As they are, in `data`.
    Plain,
    /// As base64 text of gzip, in `binaryData`.
    Gzip,
}

/// How a ConfigMap is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How values are stored.
    pub encoding: Encoding,
    /// Most bytes of all values as they are stored; keys and annotations do not count.
    pub limit: u64,
    /// Image that the bundle comes from; empty if unknown.
    pub image: String,
}

/// A bundle does not go into a ConfigMap.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The values are too large. The text up to the colon is v0's.
    #[error(
        "bundle files exceeded {limit} bytes limit: {file} brings them to {bytes} bytes; shorten \
         descriptions and schemas{}", .hint
    )]
    TooLarge {
        /// Most bytes.
        limit: u64,
        /// The file with which there were more.
        file: String,
        /// How many there were with it.
        bytes: u64,
        /// What else would help.
        hint: &'static str,
    },
    /// Two files would be stored under one key.
    #[error("the files {0:?} and {1:?} have the same key {2:?} in a ConfigMap: rename one")]
    SameKey(String, String, String),
    /// Only text can be stored as it is.
    #[error("{0} is not UTF-8 text; compressed (--gzip) it can be stored")]
    NotText(String),
    /// Compression fails, which memory allowing it does not.
    #[error("compress {0}: {1}")]
    Compress(String, #[source] io::Error),
}

/// Puts a bundle into a ConfigMap: replaces all its data, and its annotations if the bundle has
/// any. Everything else stays. Nothing is changed when there is an error.
///
/// # Errors
/// The bundle is too large, or a file cannot be stored.
pub fn write(
    config_map: &mut ConfigMap,
    bundle: &BundleFolder,
    options: &Options,
) -> Result<(), WriteError> {
    let values = values(&bundle.files, options)?;
    let metadata = &mut config_map.metadata;
    if let Some(annotations) = &bundle.annotations {
        metadata.annotations = Some(annotations.to_map());
    }
    let notes = metadata.annotations.get_or_insert_default();
    if !options.image.is_empty() {
        notes.insert(annotations::SOURCE_IMAGE.to_owned(), options.image.clone());
    }
    (config_map.data, config_map.binary_data) = match values {
        Values::Plain(data) => {
            notes.remove(annotations::CONTENT_ENCODING);
            (Some(data), None)
        }
        Values::Gzip(data) => {
            let encoding = annotations::CONTENT_ENCODING_GZIP.to_owned();
            notes.insert(annotations::CONTENT_ENCODING.to_owned(), encoding);
            (None, Some(data))
        }
    };
    Ok(())
}

/// Values by key.
enum Values {
    Plain(BTreeMap<String, String>),
    Gzip(BTreeMap<String, ByteString>),
}

fn values(files: &[BundleFile], options: &Options) -> Result<Values, WriteError> {
    let encoded = encode(files, options)?;
    if options.encoding == Encoding::Gzip {
        return Ok(Values::Gzip(
            encoded.into_iter().map(|(key, bytes)| (key, ByteString(bytes))).collect(),
        ));
    }
    let text = |(key, bytes)| match String::from_utf8(bytes) {
        Ok(text) => Ok((key, text)),
        Err(_) => Err(WriteError::NotText(key)),
    };
    encoded.into_iter().map(text).collect::<Result<_, _>>().map(Values::Plain)
}

fn encode(
    files: &[BundleFile],
    options: &Options,
) -> Result<BTreeMap<String, Vec<u8>>, WriteError> {
    let mut encoded = BTreeMap::new();
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    let mut bytes = 0_u64;
    for BundleFile { name, content } in files {
        let content = match options.encoding {
            Encoding::Plain => content.clone(),
            Encoding::Gzip => {
                encode_gzip(content).map_err(|error| WriteError::Compress(name.clone(), error))?
            }
        };
        bytes = bytes.saturating_add(content.len() as u64);
        if bytes > options.limit {
            return Err(too_large(name, bytes, options));
        }
        let key = key(name);
        if let Some(other) = names.insert(key.clone(), name) {
            return Err(WriteError::SameKey(other.to_owned(), name.clone(), key));
        }
        encoded.insert(key, content);
    }
    Ok(encoded)
}

fn too_large(file: &str, bytes: u64, options: &Options) -> WriteError {
    let hint = match options.encoding {
        Encoding::Plain => ", or compress them (--gzip)",
        Encoding::Gzip => "",
    };
    WriteError::TooLarge { limit: options.limit, file: file.to_owned(), bytes, hint }
}

/// The key under which a file is stored.
fn key(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}
