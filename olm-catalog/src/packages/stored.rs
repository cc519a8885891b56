//! A package at rest: small, and quick to turn into text.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::PackageManifest;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a label takes beside its bytes.
const ALLOCATIONS: usize = 48;

/// Why a package cannot be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// It is not JSON.
    #[error("a package is no JSON")]
    Json(#[from] serde_json::Error),
    /// The packed bytes are damaged.
    #[error("a packed package cannot be read")]
    Packed(#[from] std::io::Error),
}

/// A package whose status is packed.
#[derive(Clone, Debug)]
pub struct StoredPackage {
    name: String,
    catalog_display_name: String,
    labels: BTreeMap<String, String>,
    created: Option<Time>,
    status: Box<[u8]>,
    icon: Option<Icon>,
}

impl StoredPackage {
    /// Packs a package. Pictures go apart, since lists are without them.
    ///
    /// # Errors
    /// The package cannot be written as JSON.
    pub fn new(mut package: PackageManifest) -> Result<Self, StoredError> {
        let icon = icon(&package);
        let mut status = package.status.take().unwrap_or_default();
        for description in
            status.channels.iter_mut().filter_map(|one| one.current_csv_desc.as_mut())
        {
            description.icon.clear();
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut encoder, &status)?;
        Ok(Self {
            name: package.metadata.name.unwrap_or_default(),
            catalog_display_name: status.catalog_source_display_name,
            labels: package.metadata.labels.unwrap_or_default(),
            created: package.metadata.creation_timestamp,
            status: encoder.finish()?.into(),
            icon,
        })
    }

    /// Name of the package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of its catalog for people.
    pub fn catalog_display_name(&self) -> &str {
        &self.catalog_display_name
    }

    /// Its labels.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// When its catalog was created.
    pub fn created(&self) -> Option<&Time> {
        self.created.as_ref()
    }

    /// Its picture, if it has one.
    pub fn icon(&self) -> Option<&Icon> {
        self.icon.as_ref()
    }

    /// Bytes that it takes in memory, roughly.
    pub fn bytes(&self) -> usize {
        let label = |(key, value): (&String, &String)| key.len() + value.len() + ALLOCATIONS;
        let labels: usize = self.labels.iter().map(label).sum();
        let icon = self.icon.as_ref().map_or(0, |icon| icon.data.len());
        size_of::<Self>() + self.name.len() + labels + self.status.len() + icon
    }

    /// Its metadata as an object of `namespace`.
    pub fn metadata(&self, namespace: &str) -> Value {
        let mut metadata =
            json!({"name": self.name, "namespace": namespace, "labels": self.labels});
        if let (Some(created), Some(fields)) = (&self.created, metadata.as_object_mut()) {
            fields.insert("creationTimestamp".to_owned(), json!(created));
        }
        metadata
    }

    /// The object in `namespace`, as JSON text.
    ///
    /// # Errors
    /// The packed bytes are damaged.
    pub fn object(&self, namespace: &str) -> Result<Box<RawValue>, StoredError> {
        let metadata = self.metadata(namespace);
        let mut text = format!(
            r#"{{"apiVersion":"{}","kind":"{}","metadata":{metadata},"spec":{{}},"status":"#,
            PackageManifest::API_VERSION,
            PackageManifest::KIND
        );
        ZlibDecoder::new(&*self.status).read_to_string(&mut text)?;
        text.push('}');
        Ok(RawValue::from_string(text)?)
    }
}

/// A picture as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// Its media type, for example `image/png`.
    pub media_type: String,
    /// Its bytes.
    pub data: Box<[u8]>,
    /// Which version of it this is, quoted as HTTP wants it: `"<package>.<channel>.<csv>"`.
    pub etag: String,
}

/// What packages without a picture show: a plain box.
pub const DEFAULT_ICON: &str = concat!(
    r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">"##,
    r##"<path fill="#d1d1d1" d="M32 4 58 18v28L32 60 6 46V18z"/>"##,
    r##"<path fill="none" stroke="#8d8d8f" stroke-width="3" d="M6 18l26 14 26-14M32 32v28"/></svg>"##,
);

/// The first picture of the CSV at the head of the default channel. Data that is no base64 is no
/// picture.
pub(super) fn icon(package: &PackageManifest) -> Option<Icon> {
    let status = package.status.as_ref()?;
    let channel = status.channels.iter().find(|channel| channel.name == status.default_channel)?;
    let icon = channel.current_csv_desc.as_ref()?.icon.first()?;
    let data = STANDARD.decode(icon.base64data.as_bytes()).ok()?;
    Some(Icon {
        media_type: icon.mediatype.clone(),
        data: data.into(),
        etag: format!("\"{}.{}.{}\"", status.package_name, channel.name, channel.current_csv),
    })
}
