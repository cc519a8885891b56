//! The JSON documents of an image: config, manifest and index.
//!
//! Maps are sorted and fields have one order, so a document is a function of what it says.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};

use super::digest::sha256;

/// Media types of the parts of an image.
pub(super) mod media_type {
    /// A manifest.
    pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    /// A config.
    pub const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
    /// A layer.
    pub const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
    /// The index of a layout.
    pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
}

/// The creation time that images get, so that the time of a build leaves no trace.
pub(super) const CREATED: &str = "1970-01-01T00:00:00Z";

/// Bytes under their digest.
#[derive(Clone)]
pub(super) struct Blob {
    pub(super) media_type: &'static str,
    pub(super) digest: String,
    pub(super) bytes: Bytes,
}

impl Blob {
    pub(super) fn new(media_type: &'static str, bytes: Vec<u8>) -> Self {
        Self { media_type, digest: sha256(&bytes), bytes: bytes.into() }
    }

    pub(super) fn json(media_type: &'static str, document: &impl Serialize) -> Result<Self> {
        let bytes = serde_json::to_vec(document).context("cannot write a document of an image")?;
        Ok(Self::new(media_type, bytes))
    }

    pub(super) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn descriptor(&self) -> Descriptor {
        Descriptor {
            media_type: self.media_type.to_owned(),
            digest: self.digest.clone(),
            size: self.size(),
            platform: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// Without the bytes, of which there may be millions.
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.digest, self.size())
    }
}

/// Points at a blob.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) platform: Option<Platform>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<String, String>,
}

/// What an image runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Platform {
    pub(super) architecture: String,
    pub(super) os: String,
}

/// The one platform for which programs are built.
pub(super) fn platform() -> Platform {
    Platform { architecture: "amd64".to_owned(), os: "linux".to_owned() }
}

/// The layers of an image and its config.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) schema_version: u32,
    pub(super) media_type: String,
    pub(super) config: Descriptor,
    pub(super) layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<String, String>,
}

/// The images of a layout.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Index {
    pub(super) schema_version: u32,
    pub(super) media_type: String,
    pub(super) manifests: Vec<Descriptor>,
}

/// How an image is run, and on what.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Config {
    pub(super) created: String,
    #[serde(flatten)]
    pub(super) platform: Platform,
    pub(super) config: Execution,
    pub(super) rootfs: RootFs,
}

/// The layers of an image before compression.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RootFs {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) diff_ids: Vec<String>,
}

/// How an image is run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Execution {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) user: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) exposed_ports: BTreeMap<String, Present>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) entrypoint: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cmd: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) volumes: BTreeMap<String, Present>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) working_dir: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) labels: BTreeMap<String, String>,
}

/// The empty object by which a config marks that a key is present.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Present {}
