//! Images that a test makes up, and what a registry answers that has one.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::write::GzEncoder;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use super::super::manifest::digest_of;
use super::stub::{StubResponse, StubResponses, ok};

/// The repository of such images.
pub(crate) const REPOSITORY: &str = "shelf/catalog";

/// An image in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestImage {
    layers: Vec<(&'static str, Vec<u8>)>,
    labels: BTreeMap<String, String>,
}

impl TestImage {
    /// With a label of file-based catalogs.
    pub(crate) fn catalog() -> Self {
        let label = "operators.operatorframework.io.index.configs.v1".to_owned();
        Self { labels: BTreeMap::from([(label, "/configs".to_owned())]), ..Self::default() }
    }

    /// One more layer, a tar archive as it is.
    pub(crate) fn layer(mut self, tar: Vec<u8>) -> Self {
        self.layers.push(("application/vnd.oci.image.layer.v1.tar", tar));
        self
    }

    /// The same, compressed by gzip.
    pub(crate) fn gzip(mut self, tar: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(tar).unwrap();
        let packed = encoder.finish().unwrap();
        self.layers.push(("application/vnd.oci.image.layer.v1.tar+gzip", packed));
        self
    }

    /// A layer of these bytes that is said to be compressed by zstd.
    pub(crate) fn zstd(mut self, packed: Vec<u8>) -> Self {
        self.layers.push(("application/vnd.oci.image.layer.v1.tar+zstd", packed));
        self
    }

    /// The manifest, and what the registry answers that has the image under the tag `v1`.
    pub(crate) fn answers(&self) -> (String, StubResponses) {
        let config = json!({"config": {"Labels": self.labels}}).to_string();
        let descriptor = |kind: &str, bytes: &[u8]| json!({"mediaType": kind, "digest": digest_of(bytes), "size": bytes.len()});
        let layers: Vec<_> =
            self.layers.iter().map(|(kind, bytes)| descriptor(kind, bytes)).collect();
        let kind = "application/vnd.oci.image.config.v1+json";
        let manifest = json!({
            "schemaVersion": 2, "config": descriptor(kind, config.as_bytes()), "layers": layers,
        });
        let manifest = manifest.to_string();
        let digest = digest_of(manifest.as_bytes());
        let blobs = self.layers.iter().map(|(_, bytes)| bytes.as_slice());
        let blobs = blobs.chain([config.as_bytes()]).map(|bytes| (blob(bytes), ok(bytes)));
        let manifests = [path("v1"), path(&digest)].map(|path| (path, ok(&manifest)));
        (digest, blobs.chain(manifests).collect())
    }
}

/// Where a manifest is.
pub(crate) fn path(version: &str) -> String {
    format!("/v2/{REPOSITORY}/manifests/{version}")
}

/// Where a layer is.
pub(crate) fn blob(bytes: &[u8]) -> String {
    format!("/v2/{REPOSITORY}/blobs/{}", digest_of(bytes))
}

/// An archive of files: paths and content.
pub(crate) fn files(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = Header::new_ustar();
        header.set_path(path).unwrap();
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

/// An archive of so many empty files of a catalog, with names of 220 bytes in its folder.
pub(crate) fn long_names(count: usize) -> Vec<u8> {
    let folder = format!("configs/{}", "d".repeat(120));
    let paths: Vec<String> = (0..count).map(|number| format!("{folder}/{number:0>99}")).collect();
    let empty: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), &[][..])).collect();
    files(&empty)
}

/// An archive of symbolic links: paths and targets.
pub(crate) fn links(links: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, target) in links {
        let mut header = Header::new_ustar();
        header.set_path(path).unwrap();
        header.set_entry_type(EntryType::Symlink);
        header.set_link_name(target).unwrap();
        header.set_size(0);
        header.set_cksum();
        archive.append(&header, &[][..]).unwrap();
    }
    archive.into_inner().unwrap()
}

/// The answer of a registry that has something else at a path.
pub(crate) fn changed(
    answers: &StubResponses,
    path: String,
    answer: StubResponse,
) -> StubResponses {
    let mut answers = answers.clone();
    answers.insert(path, answer);
    answers
}
