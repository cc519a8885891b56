//! Container images without a container engine: built here, written to an archive, pushed.
//!
//! The same input gives the same bytes: entries are sorted, owners and times are fixed, documents
//! have one order. Nothing here reads images or pulls them; that is the kubelet's business.
//!
//! Formats: OCI image specification 1.1 (config, manifest, layout) and distribution
//! specification 1.1 (push).

mod archive;
mod builder;
mod catalog;
mod derive;
mod digest;
mod document;
mod layer;
mod push;
mod reference;
pub mod server;
mod transport;

use std::path::Path;

use anyhow::Result;

pub use builder::ImageBuilder;
pub use catalog::{CONFIGS, catalog};
pub use derive::push_on;
pub use layer::Layer;
pub use push::{Pushed, push, reach};
pub use reference::Reference;

use document::Blob;

/// An image for one platform, complete in memory.
#[derive(Clone, Debug)]
pub struct Image {
    reference: Option<Reference>,
    layers: Vec<Layer>,
    config: Blob,
    manifest: Blob,
}

impl Image {
    /// Starts an empty image.
    pub fn builder() -> ImageBuilder {
        ImageBuilder::default()
    }

    /// The name by which an archive introduces the image.
    pub fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }

    /// `sha256:…` of the manifest: what `image@digest` means.
    pub fn digest(&self) -> &str {
        &self.manifest.digest
    }

    /// Compressed bytes: what a node downloads.
    pub fn size(&self) -> u64 {
        self.blobs().map(Blob::size).sum()
    }

    /// The layers, lowest first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Writes an OCI image layout as one tar file, which `ctr -n k8s.io images import`,
    /// `kind load image-archive`, `docker load` and `skopeo copy oci-archive:…` read.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; then there is none.
    pub fn write_archive(&self, path: &Path) -> Result<()> {
        archive::write(self, path)
    }

    /// Every blob, the manifest last: whoever sees a manifest finds what it names.
    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let layers = self.layers.iter().map(Layer::blob);
        layers.chain([&self.config, &self.manifest])
    }
}

#[cfg(test)]
mod tests;
