//! The digest that an image has in its registry, without pulling it.

use async_trait::async_trait;
use clap::ValueEnum;

/// How newer catalog images are found (`--catalog-polling`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CatalogPolling {
    /// A Pod pulls the image, as in v0.
    #[default]
    Pod,
    /// The registry is asked for the digest; a Pod is made only when it changed, or when the
    /// registry does not say it.
    Digest,
}

/// Which image is asked for, and who may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRequest {
    /// Reference of the image.
    pub image: String,
    /// Namespace of the pull secrets.
    pub namespace: String,
    /// Names of pull secrets, any of which may have the right credentials.
    pub pull_secrets: Vec<String>,
}

/// Asks registries.
#[async_trait]
pub trait DigestSource: Send + Sync {
    /// The digest of an image's manifest, for example `sha256:…`, or why it is not known.
    async fn digest(&self, request: &DigestRequest) -> Result<String, String>;
}
