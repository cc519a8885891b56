//! The digest that an image has in its registry, without pulling it.

use std::str::FromStr;

use async_trait::async_trait;

/// How newer catalog images are found (`--catalog-polling`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl FromStr for CatalogPolling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "pod" => Ok(Self::Pod),
            "digest" => Ok(Self::Digest),
            _ => Err(format!("{text:?} is no way to poll, expected pod or digest")),
        }
    }
}
