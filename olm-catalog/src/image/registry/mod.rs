//! Asks registries (OCI distribution specification, pull).
//!
//! Every answer is bounded: in bytes by what it is, in time as a whole. A registry is asked over TLS,
//! unless it is on this machine or was named as one without. One that lies in public names no host
//! connected to who does not, whomever it refers to.

mod challenge;
mod clients;
mod dial;
mod http;
mod place;
mod trust;

use std::sync::Arc;

use super::credentials::Credentials;
use super::manifest::{ACCEPT, digest_of, is_sha256, verify};
use super::{ImageError, ImageReference, Keychain};
use challenge::Challenge;
use dial::System;
use http::{Http, RegistryRequest, RegistryResponse, Trust};

#[cfg(test)]
pub(super) use dial::Network;

/// Most bytes of a manifest; what registries take.
const MANIFEST: u64 = 4 << 20;

/// A client of registries. Clones share connections.
#[derive(Clone, Debug)]
pub struct Registry {
    http: Http,
}

/// A registry that let us in, and the manifest it gave us.
pub(super) struct Session<'a> {
    registry: &'a Registry,
    image: &'a ImageReference,
    authorization: Option<String>,
    manifest: Vec<u8>,
}

impl Registry {
    /// A client that asks these registries (`host` or `host:port`) without TLS.
    ///
    /// # Errors
    /// The system has no usable certificates of authorities.
    pub fn new(without_tls: impl IntoIterator<Item = String>) -> std::io::Result<Self> {
        Self::with(without_tls, Trust::Verified)
    }

    /// The same, but certificates are not checked: any host may answer. Registries on
    /// this machine are asked over TLS, too.
    ///
    /// # Errors
    /// There is no TLS of a version that is safe.
    pub fn unverified(without_tls: impl IntoIterator<Item = String>) -> std::io::Result<Self> {
        Self::with(without_tls, Trust::AnyCertificate)
    }

    fn with(without_tls: impl IntoIterator<Item = String>, trust: Trust) -> std::io::Result<Self> {
        let network = Arc::new(System);
        Ok(Self { http: Http::new(without_tls.into_iter().collect(), trust, network)? })
    }

    /// A client on a network that a test makes up.
    #[cfg(test)]
    pub(super) fn on(
        network: Arc<dyn Network>,
        without_tls: impl IntoIterator<Item = String>,
    ) -> Self {
        let without_tls = without_tls.into_iter().collect();
        Self { http: Http::new(without_tls, Trust::Verified, network).unwrap() }
    }

    /// The digest of an image, for which its layers are not transferred.
    ///
    /// # Errors
    /// The image is unavailable.
    pub async fn digest(
        &self,
        image: &ImageReference,
        keychain: &Keychain,
    ) -> Result<String, ImageError> {
        let session = self.session(image, keychain).await?;
        Ok(digest_of(session.manifest()))
    }

    /// Gets the manifest with the credentials that fit, one after the other, and at last without.
    pub(super) async fn session<'a>(
        &'a self,
        image: &'a ImageReference,
        keychain: &Keychain,
    ) -> Result<Session<'a>, ImageError> {
        let candidates = keychain.for_image(image);
        let candidates = candidates.into_iter().map(Some).chain([None]);
        let mut refused = None;
        for credentials in candidates {
            match self.begin(image, credentials).await {
                Err(error @ ImageError::Unauthorized { .. }) => {
                    refused.get_or_insert(error);
                }
                other => return other,
            }
        }
        Err(refused.unwrap_or_else(|| ImageError::NotFound(image.to_string())))
    }

    async fn begin<'a>(
        &'a self,
        image: &'a ImageReference,
        credentials: Option<&Credentials>,
    ) -> Result<Session<'a>, ImageError> {
        let url = self.url(image, "manifests", image.version());
        let question = || RegistryRequest::get(url.clone(), ACCEPT, image.endpoint());
        let answer = self.http.ask(question()).await?;
        let (answer, authorization) = match answer.code() {
            401 => {
                let authorization = self.authorize(image, &answer, credentials).await?;
                let question = question().authorized(&authorization);
                (self.http.ask(question).await?, Some(authorization))
            }
            _ => (answer, None),
        };
        let bytes = self.content(answer, image, &image.to_string(), MANIFEST).await?;
        if let Some(expected) = image.digest() {
            verify(&format!("the manifest of {image}"), expected, &bytes)?;
        }
        Ok(Session { registry: self, image, authorization, manifest: bytes })
    }

    /// What the registry wants to see: a token from somewhere, or the credentials themselves.
    async fn authorize(
        &self,
        image: &ImageReference,
        answer: &RegistryResponse,
        credentials: Option<&Credentials>,
    ) -> Result<String, ImageError> {
        let refused = |why: &str| unauthorized(image, why);
        match Challenge::parse(answer.header("www-authenticate")) {
            Some(Challenge::Basic) => match credentials {
                Some(credentials) => Ok(credentials.basic()),
                None => Err(refused("it wants credentials, and there are none")),
            },
            Some(Challenge::Bearer { realm, service }) => {
                let url = challenge::token_url(&realm, service.as_deref(), image.repository());
                let mut question = RegistryRequest::get(url, "application/json", image.endpoint());
                if let Some(credentials) = credentials {
                    question = question.authorized(&credentials.basic());
                }
                let answer = self.http.ask(question).await?;
                match answer.code() {
                    200 => challenge::token(&answer.bytes("the token", challenge::TOKEN).await?),
                    400..=499 => Err(refused("its token server does not accept the credentials")),
                    _ => Err(answer.failed().await),
                }
            }
            None => Err(refused("it does not say which credentials it wants")),
        }
    }

    /// The content of an answer, which is about an image.
    async fn content(
        &self,
        answer: RegistryResponse,
        image: &ImageReference,
        what: &str,
        limit: u64,
    ) -> Result<Vec<u8>, ImageError> {
        match answer.code() {
            200 => answer.bytes(what, limit).await,
            404 => Err(ImageError::NotFound(what.to_owned())),
            401 | 403 => Err(unauthorized(image, "the credentials have no right to pull it")),
            _ => Err(answer.failed().await),
        }
    }

    fn url(&self, image: &ImageReference, kind: &str, version: &str) -> String {
        let (host, repository) = (image.endpoint(), image.repository());
        let scheme = if self.http.is_without_tls(host) { "http" } else { "https" };
        format!("{scheme}://{host}/v2/{repository}/{kind}/{version}")
    }
}

impl Session<'_> {
    /// The manifest that the image's reference names.
    pub(super) fn manifest(&self) -> &[u8] {
        &self.manifest
    }

    /// Another manifest of the repository.
    pub(super) async fn manifest_of(&self, digest: &str) -> Result<Vec<u8>, ImageError> {
        self.fetch("manifests", digest, MANIFEST).await
    }

    /// A layer of `size` bytes.
    pub(super) async fn blob(&self, digest: &str, size: u64) -> Result<Vec<u8>, ImageError> {
        let bytes = self.fetch("blobs", digest, size).await?;
        if bytes.len() as u64 == size {
            return Ok(bytes);
        }
        let what = format!("layer {digest}");
        let why = format!("it has {} bytes, and its manifest says {size}", bytes.len());
        Err(ImageError::Malformed { what, why })
    }

    async fn fetch(&self, kind: &str, digest: &str, limit: u64) -> Result<Vec<u8>, ImageError> {
        if !is_sha256(digest) {
            let what = format!("the manifest of {}", self.image);
            let why = "what it names as a digest is none by SHA-256".to_owned();
            return Err(ImageError::Malformed { what, why });
        }
        let url = self.registry.url(self.image, kind, digest);
        let mut question = RegistryRequest::get(url, ACCEPT, self.image.endpoint());
        if let Some(authorization) = &self.authorization {
            question = question.authorized(authorization);
        }
        let answer = self.registry.http.ask(question).await?;
        let what = format!("{} {digest} of {}", kind.trim_end_matches('s'), self.image);
        let bytes = self.registry.content(answer, self.image, &what, limit).await?;
        verify(&what, digest, &bytes)?;
        Ok(bytes)
    }
}

fn unauthorized(image: &ImageReference, why: &str) -> ImageError {
    ImageError::Unauthorized {
        image: image.to_string(),
        host: image.host().to_owned(),
        why: why.to_owned(),
    }
}
