//! The digest that an image has in its registry, without pulling it.

use async_trait::async_trait;
use clap::ValueEnum;
use olm_catalog::image::{ImageReference, Registry};

use crate::unpack::{Account, PullSecrets};

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

/// Who knows digests.
#[async_trait]
pub trait DigestSource: Send + Sync {
    /// The digest of an image's manifest, for example `sha256:…`, or why it is not known.
    async fn digest(&self, request: &DigestRequest) -> Result<String, String>;
}

/// Asks the registry of each image, with the client that pulls bundles.
pub struct RegistryDigests {
    pub(crate) secrets: PullSecrets,
    pub(crate) registry: Registry,
}

#[async_trait]
impl DigestSource for RegistryDigests {
    async fn digest(&self, request: &DigestRequest) -> Result<String, String> {
        let image: ImageReference = request.image.parse().map_err(|error| format!("{error}"))?;
        let whose = Account {
            namespace: request.namespace.clone(),
            secrets: request.pull_secrets.clone(),
            account: String::new(),
        };
        let keychain = self.secrets.keychain(&whose).await;
        self.registry.digest(&image, &keychain).await.map_err(|error| error.to_string())
    }
}
