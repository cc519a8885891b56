//! Asks registries for the digests of catalog images, with the client that pulls bundles.

use async_trait::async_trait;
use olm_catalog::image::{ImageReference, Registry};

use super::process::{Account, PullSecrets};
use crate::digest::{DigestRequest, DigestSource};

/// Asks the registry of each image.
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
