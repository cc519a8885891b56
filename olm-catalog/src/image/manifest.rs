//! What an image is made of: manifests and lists of them, configs with labels, and the digests by which
//! they are named (OCI image specification, Docker schema 2).

use std::collections::BTreeMap;

use olm_types::document::{Budget, DocumentError, json_as};
use olm_types::hash;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Compression, ImageError, Limits};

/// What we say we understand.
#[cfg(feature = "pull")]
pub(super) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";

/// Longest media type in bytes, type and subtype together (RFC 6838, 4.2). It is kept as long as layers are read.
const MEDIA_TYPE: usize = 255;

/// Most manifests in a list.
const MANIFESTS: usize = 1_000;

/// Something in a registry.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Descriptor {
    media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    platform: Option<Platform>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Platform {
    os: String,
    architecture: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    schema_version: u64,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    manifests: Option<Vec<Descriptor>>,
}

/// A manifest.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// The layers of an image, lowest first, and what says more about it, if anything does.
    Image { layers: Vec<Descriptor>, config: Option<Descriptor> },
    /// Where the manifest for this machine is.
    Elsewhere(Descriptor),
}

impl Manifest {
    pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, ImageError> {
        let malformed =
            |why: String| ImageError::Malformed { what: "the image's manifest".to_owned(), why };
        let document: Document =
            json_as(bytes, &Budget::PROPERTY).map_err(|error| malformed(position(&error)))?;
        if document.schema_version != 2 {
            return Err(malformed("its schema version is not supported, 2 is".to_owned()));
        }
        match (document.layers, document.manifests) {
            (Some(layers), _) => {
                Ok(Self::Image { layers: within(layers, limits)?, config: document.config })
            }
            (None, Some(manifests)) => chosen(&manifests).map(Self::Elsewhere).map_err(malformed),
            (None, None) => Err(malformed("it names no layers".to_owned())),
        }
    }
}

impl Descriptor {
    /// How the layer is compressed.
    pub(super) fn compression(&self) -> Result<Compression, ImageError> {
        let kind = Some(self.media_type.as_str()).filter(|kind| kind.len() <= MEDIA_TYPE);
        let kind = kind.unwrap_or_default();
        if kind.ends_with("tar+gzip") || kind.ends_with("tar.gzip") {
            Ok(Compression::Gzip)
        } else if kind.ends_with("tar+zstd") || kind.ends_with("tar.zstd") {
            Ok(Compression::Zstd)
        } else if kind.ends_with(".tar") {
            Ok(Compression::None)
        } else {
            let what = format!("layer {}", self.digest);
            let why = "its media type is not supported; gzip, zstd and plain tar are".to_owned();
            Err(ImageError::Malformed { what, why })
        }
    }
}

/// Where a text is no manifest. What stands there is not repeated: it may be none of a registry.
fn position(error: &DocumentError) -> String {
    match error {
        DocumentError::Json(error) => {
            let what = if error.is_data() { "it is no manifest" } else { "it is no JSON" };
            format!("{what} (line {}, column {})", error.line(), error.column())
        }
        DocumentError::Exceeded(exceeded) => exceeded.to_string(),
        DocumentError::Io(_) | DocumentError::Syntax(_) => "it is no JSON".to_owned(),
    }
}

fn within(layers: Vec<Descriptor>, limits: &Limits) -> Result<Vec<Descriptor>, ImageError> {
    let too_much = |limit, unit| ImageError::TooMuch { what: "the image".to_owned(), limit, unit };
    if layers.len() > limits.layers {
        return Err(too_much(limits.layers as u64, "layers"));
    }
    let sum = layers.iter().fold(0_u64, |sum, layer| sum.saturating_add(layer.size));
    if sum > limits.transferred {
        return Err(too_much(limits.transferred, "bytes to transfer"));
    }
    // Layers have no platform; what stands there would be kept as long as they are read.
    Ok(layers.into_iter().map(|layer| Descriptor { platform: None, ..layer }).collect())
}

/// The image for this machine; else the first, as bundles are the same for all.
fn chosen(manifests: &[Descriptor]) -> Result<Descriptor, String> {
    if manifests.len() > MANIFESTS {
        return Err(format!("it lists more than {MANIFESTS} manifests"));
    }
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    };
    let ours = |one: &&Descriptor| {
        one.platform
            .as_ref()
            .is_some_and(|place| place.os == "linux" && place.architecture == architecture)
    };
    let found = manifests.iter().find(ours).or(manifests.first());
    found.cloned().ok_or_else(|| "it lists no manifest".to_owned())
}

/// Most bytes of a config.
pub(super) const CONFIG: u64 = 4 << 20;

/// Labels of an image, by name.
pub type Labels = BTreeMap<String, String>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    config: Option<Execution>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Execution {
    #[serde(rename = "Labels")]
    labels: Option<Labels>,
}

/// The labels in a config.
pub(super) fn labels(config: &[u8]) -> Result<Labels, ImageError> {
    let parsed: Config = json_as(config, &Budget::PROPERTY).map_err(|error| {
        let what = "the image's config".to_owned();
        ImageError::Malformed { what, why: error.to_string() }
    })?;
    Ok(parsed.config.unwrap_or_default().labels.unwrap_or_default())
}

/// Refuses bytes that are not what their digest says. `what` they are is for the message.
pub(super) fn verify(what: &str, expected: &str, bytes: &[u8]) -> Result<(), ImageError> {
    same(what, expected, digest_of(bytes))
}

/// Refuses what has another digest than it should have.
pub(super) fn same(what: &str, expected: &str, found: String) -> Result<(), ImageError> {
    if found == expected {
        return Ok(());
    }
    Err(ImageError::Digest { what: what.to_owned(), expected: expected.to_owned(), found })
}

/// `sha256:` and 64 hexadecimal digits.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    hex_of(&Sha256::digest(bytes))
}

/// The same of bytes that were hashed piece by piece.
pub(super) fn hex_of(digest: &[u8]) -> String {
    format!("sha256:{}", hash::hex(digest))
}

/// A digest becomes part of an address: it must not be anything else.
pub(super) fn is_sha256(text: &str) -> bool {
    hex(text).is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The digits of a digest.
pub(super) fn hex(digest: &str) -> Option<&str> {
    digest.strip_prefix("sha256:")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn parse(document: &Value) -> Result<Manifest, String> {
        let parsed = Manifest::parse(document.to_string().as_bytes(), &Limits::default());
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn the_image_for_this_machine_else_the_first() {
        let one = |digest: &str, architecture: &str| json!({"digest": digest, "platform": {"os": "linux", "architecture": architecture}});
        let list = |all: Vec<Value>| json!({"schemaVersion": 2, "manifests": all});
        let ours = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
        let found = |all: Vec<Value>| match parse(&list(all)) {
            Ok(Manifest::Elsewhere(listed)) => listed.digest,
            other => panic!("{other:?}"),
        };
        assert_eq!(found(vec![one("a", "s390x"), one("b", ours)]), "b");
        assert_eq!(found(vec![one("a", "s390x")]), "a");
    }

    #[rstest]
    #[case(json!({"schemaVersion": 1}), "its schema version is not supported, 2 is")]
    #[case(json!({"schemaVersion": 2}), "it names no layers")]
    #[case(json!({"schemaVersion": 2, "manifests": []}), "it lists no manifest")]
    #[case(json!({"schemaVersion": 2, "layers": [{"size": -1}]}), "it is no manifest (line 1, column ")]
    #[case(json!({"schemaVersion": 2, "layers": vec![json!({}); 129]}), "more than 128 layers")]
    #[case(
        json!({"schemaVersion": 2, "layers": [{"size": u64::MAX}, {"size": u64::MAX}]}),
        "more than 134217728 bytes to transfer"
    )]
    fn bad_manifests(#[case] document: Value, #[case] expected: &str) {
        let error = parse(&document).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[rstest]
    #[case("application/vnd.oci.image.layer.v1.tar+gzip", Some(Compression::Gzip))]
    #[case("application/vnd.docker.image.rootfs.diff.tar.gzip", Some(Compression::Gzip))]
    #[case("application/vnd.oci.image.layer.v1.tar", Some(Compression::None))]
    #[case("application/vnd.oci.image.layer.v1.tar+zstd", Some(Compression::Zstd))]
    #[case("application/vnd.oci.image.layer.v1.tar+xz", None)]
    #[case("", None)]
    #[case(&format!("{}tar+gzip", "a".repeat(248)), None)]
    fn compressions(#[case] kind: &str, #[case] expected: Option<Compression>) {
        let layer = Descriptor { media_type: kind.to_owned(), ..Descriptor::default() };
        assert_eq!(layer.compression().ok(), expected);
    }
}
