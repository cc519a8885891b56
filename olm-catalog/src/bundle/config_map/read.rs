//! From a ConfigMap to the bundle in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use olm_types::annotations;
use olm_types::document::{self, Budget, DocumentError, Exceeded, Meter};
use serde_json::Value;
use thiserror::Error;

use super::{GzipError, decode_gzip};
use crate::bundle::BundleAnnotations;

/// Most bytes of all values together, decompressed. A bundle whose compressed form fills a
/// ConfigMap has a fraction of that.
const CONTENT_BYTES: u64 = 32 << 20;

/// A bundle read from a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnpackedBundle {
    /// Name of the CSV; empty when there is none. Of several, the last counts.
    pub csv_name: String,
    /// The CSV as JSON text; empty when there is none.
    pub csv_json: String,
    /// Every object, in the order of keys, the CSV included.
    pub objects: Vec<UnpackedObject>,
    /// Keys with something else.
    pub skipped: Vec<Skipped>,
    /// Image that the bundle comes from; empty if unknown.
    pub image: String,
    /// What the bundle says about itself.
    pub annotations: BundleAnnotations,
}

/// An object of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpackedObject {
    /// Its key in the ConfigMap.
    pub key: String,
    /// The value of the key, YAML or JSON, unchanged.
    pub text: String,
    /// The object.
    pub value: Value,
}

/// A key that holds no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The key.
    pub key: String,
    /// What is wrong with its value.
    pub reason: String,
}

/// Why a ConfigMap yields no bundle.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A value cannot be decoded. The text up to the key is v0's.
    #[error(
        "failed to extract bundle from configmap - error decoding gzip-encoded bundle data: key \
         {key:?}: {source}"
    )]
    Gzip {
        /// The key whose value cannot be decoded.
        key: String,
        /// What is wrong with it.
        source: GzipError,
    },
    /// The objects cost more than those of a bundle may.
    #[error("failed to extract bundle from configmap - key {key:?}: {source}")]
    Exceeded {
        /// The key at which they do.
        key: String,
        /// Which bound was passed.
        source: Exceeded,
    },
}

/// Reads a bundle. Without a bundle the result has no objects.
///
/// # Errors
/// A value cannot be decompressed, or all together are too large or make too much. Values that are no
/// objects are no error, but are listed as skipped.
pub fn read(config_map: &ConfigMap) -> Result<UnpackedBundle, ReadError> {
    let notes = config_map.metadata.annotations.as_ref();
    let mut bundle = UnpackedBundle {
        image: notes
            .and_then(|notes| notes.get(annotations::SOURCE_IMAGE))
            .cloned()
            .unwrap_or_default(),
        annotations: notes.map(BundleAnnotations::from_map).unwrap_or_default(),
        ..UnpackedBundle::default()
    };
    let mut meter = Meter::in_all(Budget::BUNDLE);
    for (key, content) in files(config_map)? {
        let key = key.to_owned();
        match object(&content, &mut meter) {
            Ok((text, value)) => bundle.add(UnpackedObject { key, text, value }),
            Err(NoObject::Exceeded(source)) => return Err(ReadError::Exceeded { key, source }),
            Err(NoObject::Because(reason)) => bundle.skipped.push(Skipped { key, reason }),
        }
    }
    Ok(bundle)
}

/// How many bytes all values have, compressed ones counted as they are.
pub fn bytes(config_map: &ConfigMap) -> usize {
    let plain = config_map.data.iter().flatten().map(|(_, text)| text.len());
    let binary = config_map.binary_data.iter().flatten().map(|(_, value)| value.0.len());
    plain.chain(binary).fold(0, usize::saturating_add)
}

/// The content of every file in a ConfigMap, by key.
///
/// # Errors
/// See [`read`].
pub fn files(config_map: &ConfigMap) -> Result<BTreeMap<&str, Cow<'_, [u8]>>, ReadError> {
    if !is_compressed(config_map) {
        let data = config_map.data.iter().flatten();
        return Ok(data
            .map(|(key, text)| (key.as_str(), Cow::Borrowed(text.as_bytes())))
            .collect());
    }
    let mut left = CONTENT_BYTES;
    let mut files = BTreeMap::new();
    for (key, value) in config_map.binary_data.iter().flatten() {
        let content = decode_gzip(&value.0, left).map_err(|source| ReadError::Gzip {
            key: key.clone(),
            source: match source {
                GzipError::TooLarge(_) => GzipError::TooLarge(CONTENT_BYTES),
                other => other,
            },
        })?;
        left = left.saturating_sub(content.len() as u64);
        files.insert(key.as_str(), Cow::Owned(content));
    }
    Ok(files)
}

impl UnpackedBundle {
    fn add(&mut self, object: UnpackedObject) {
        if object.value.get("kind").and_then(Value::as_str) == Some("ClusterServiceVersion") {
            let name = object.value.pointer("/metadata/name").and_then(Value::as_str);
            self.csv_name = name.unwrap_or_default().to_owned();
            self.csv_json = object.value.to_string();
        }
        self.objects.push(object);
    }
}

fn is_compressed(config_map: &ConfigMap) -> bool {
    let notes = config_map.metadata.annotations.as_ref();
    let encoding = notes.and_then(|notes| notes.get(annotations::CONTENT_ENCODING));
    encoding.is_some_and(|encoding| encoding == annotations::CONTENT_ENCODING_GZIP)
}

/// Why a value is no object of the bundle.
enum NoObject {
    /// It costs too much: no more values are read.
    Exceeded(Exceeded),
    /// It is something else.
    Because(String),
}

impl From<DocumentError> for NoObject {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Exceeded(exceeded) => Self::Exceeded(exceeded),
            other => Self::Because(other.to_string()),
        }
    }
}

/// The first document of a file; as in v0, it must have a kind and nothing else.
fn object(content: &[u8], meter: &mut Meter) -> Result<(String, Value), NoObject> {
    let text = std::str::from_utf8(content);
    let text = text.map_err(|error| NoObject::Because(format!("not UTF-8: {error}")))?;
    let value = document::first(content, meter)?;
    match value.get("kind").and_then(Value::as_str) {
        Some(kind) if !kind.is_empty() => Ok((text.to_owned(), value)),
        _ => Err(NoObject::Because("no Kubernetes object: it has no kind".to_owned())),
    }
}
