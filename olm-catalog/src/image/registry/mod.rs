//! Asks registries (OCI distribution specification, pull).
//!
//! Every answer is bounded: in bytes by what it is, in time as a whole. A registry is asked over TLS,
//! unless it is on this machine or was named as one without. One that lies in public names no host
//! connected to who does not, whomever it refers to.

mod access;
mod challenge;
mod clients;
mod dial;
mod http;
mod pauses;
mod place;
mod response;
mod session;
mod trust;

use std::io;
use std::sync::Arc;

use ::http::Method;
use arc_swap::ArcSwap;

use super::manifest::{digest_of, is_sha256};
use super::mirrors::{Endpoint, Mirrors};
use super::{ImageError, ImageReference, Keychain};
use crate::registry::client::Proxy;
use access::Access;
use clients::ClientsOptions;
pub(super) use dial::Network;
use dial::System;
use http::Http;
use trust::Trust;

pub(super) use session::Session;

/// The header in which registries say the digest of a manifest.
const DIGEST: &str = "docker-content-digest";

/// How registries are asked.
#[derive(Clone, Debug, Default)]
pub struct RegistryOptions {
    /// Registries (`host` or `host:port`) that are asked without TLS, beside those on this machine.
    pub without_tls: Vec<String>,
    /// Whether any certificate is good: any host may answer then, and registries on this machine are
    /// asked over TLS, too.
    pub any_certificate: bool,
    /// Certificates of authorities (PEM) that are trusted beside those of the system.
    pub authorities: Vec<Vec<u8>>,
    /// The proxy through which registries with TLS are reached.
    pub proxy: Option<Proxy>,
    /// Where else images may be found.
    pub mirrors: Mirrors,
}

/// A client of registries. Clones share connections.
#[derive(Clone, Debug)]
pub struct Registry {
    http: Http,
    mirrors: Arc<ArcSwap<Mirrors>>,
}

impl Registry {
    /// A client that asks these registries (`host` or `host:port`) without TLS.
    ///
    /// # Errors
    /// The system has no usable certificates of authorities.
    pub fn new(without_tls: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let without_tls = without_tls.into_iter().collect();
        Self::with(RegistryOptions { without_tls, ..RegistryOptions::default() })
    }

    /// A client with these options.
    ///
    /// # Errors
    /// There is no TLS of a version that is safe, or there are no usable certificates of authorities.
    pub fn with(options: RegistryOptions) -> io::Result<Self> {
        Self::assemble(options, Arc::new(System))
    }

    fn assemble(options: RegistryOptions, network: Arc<dyn Network>) -> io::Result<Self> {
        let trust = if options.any_certificate { Trust::AnyCertificate } else { Trust::Verified };
        let clients = ClientsOptions { trust, network, proxy: options.proxy };
        let without_tls = options.without_tls.into_iter().collect();
        let http = Http::new(without_tls, clients, &options.authorities)?;
        Ok(Self { http, mirrors: Arc::new(ArcSwap::from_pointee(options.mirrors)) })
    }

    /// A client on a network that a test makes up.
    #[cfg(test)]
    pub(super) fn on(network: Arc<dyn Network>, options: RegistryOptions) -> Self {
        Self::assemble(options, network).unwrap()
    }

    /// Trusts these authorities (PEM) from now on, in place of those that were named before, and
    /// those of the system as they are now.
    ///
    /// # Errors
    /// They are unusable; what was trusted before is trusted still.
    pub fn trust(&self, authorities: &[Vec<u8>]) -> io::Result<()> {
        self.http.trust(authorities)
    }

    /// Looks for images at these mirrors from now on.
    pub fn mirror(&self, mirrors: Mirrors) {
        self.mirrors.store(Arc::new(mirrors));
    }

    /// The digest of an image, for which neither its layers nor, where the registry says it, its
    /// manifest are transferred.
    ///
    /// # Errors
    /// The image is unavailable.
    pub async fn digest(
        &self,
        image: &ImageReference,
        keychain: &Keychain,
    ) -> Result<String, ImageError> {
        self.first(image, keychain, digest).await
    }

    /// Gets the manifest.
    pub(super) async fn session(
        &self,
        image: &ImageReference,
        keychain: &Keychain,
    ) -> Result<Session, ImageError> {
        self.first(image, keychain, Session::begin).await
    }

    /// What `ask` gets first, of where the image may be, with the credentials that fit, one after
    /// the other, and at last without.
    async fn first<T>(
        &self,
        image: &ImageReference,
        keychain: &Keychain,
        ask: impl AsyncFn(Access) -> Result<T, ImageError>,
    ) -> Result<T, ImageError> {
        let places = self.mirrors.load().endpoints(image).map_err(|error| {
            let what = "the configuration of mirrors".to_owned();
            ImageError::Misleading { what, why: error.to_string() }
        })?;
        let mut failed: Option<ImageError> = None;
        for place in places {
            match self.at(&place, keychain, &ask).await {
                Ok(found) => return Ok(found),
                Err(error) if weight(&error) < failed.as_ref().map_or(0, weight) => {}
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| ImageError::Blocked(image.to_string())))
    }

    async fn at<T>(
        &self,
        endpoint: &Endpoint,
        keychain: &Keychain,
        ask: &impl AsyncFn(Access) -> Result<T, ImageError>,
    ) -> Result<T, ImageError> {
        let candidates = keychain.for_image(&endpoint.image);
        let candidates = candidates.into_iter().cloned().map(Some).chain([None]);
        let mut refused = None;
        for credentials in candidates {
            match ask(Access::new(&self.http, endpoint, credentials)).await {
                Err(error @ ImageError::Unauthorized { .. }) => {
                    refused.get_or_insert(error);
                }
                other => return other,
            }
        }
        Err(refused.unwrap_or_else(|| ImageError::NotFound(endpoint.image.to_string())))
    }
}

/// How much an error counts beside those of other places: what is forged most, then that one of them
/// asks for a pause, as it may have the image.
fn weight(error: &ImageError) -> u8 {
    match error {
        ImageError::Digest { .. } | ImageError::Length { .. } => 2,
        ImageError::Limited { .. } => 1,
        _ => 0,
    }
}

/// The digest that the registry names, else that of the manifest that it gives.
async fn digest(mut access: Access) -> Result<String, ImageError> {
    let image = access.image().clone();
    let answer = access.ask(Method::HEAD, "manifests", image.version()).await?;
    match answer.code() {
        200 => match answer.header(DIGEST).filter(|digest| is_sha256(digest)) {
            Some(digest) => Ok(digest.to_owned()),
            None => Ok(digest_of(Session::begin(access).await?.manifest())),
        },
        // Registries that do not know the method.
        400 | 405 | 501 => Ok(digest_of(Session::begin(access).await?.manifest())),
        _ => Err(answer
            .granted(&image, &image.to_string())
            .await
            .err()
            .unwrap_or_else(|| ImageError::NotFound(image.to_string()))),
    }
}
