//! What a server shows of itself over TLS.

use std::fmt;
use std::io;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::{SharedProfile, TlsProfile};
use crate::callers::Authorities;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is taken or invalid.
    #[error("cannot listen on {address}")]
    Address {
        /// The address as given.
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Certificate and key cannot be used.
    #[error("the serving certificate cannot be used: {0}")]
    Certificate(String),
}

/// What the server shows of itself and whom it lets introduce themselves. Clones share it; until it
/// is set, connections are closed.
#[derive(Clone, Debug, Default)]
pub struct ServingIdentity {
    shown: Arc<ArcSwapOption<Shown>>,
    profile: SharedProfile,
}

#[derive(Debug)]
struct Shown {
    config: Arc<ServerConfig>,
    /// The profile that it was made for.
    profile: Arc<TlsProfile>,
    material: Arc<Material>,
}

/// What a configuration is made of.
struct Material {
    certificate: Vec<u8>,
    key: Vec<u8>,
    authorities: Authorities,
}

/// The key is private.
impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Material").finish_non_exhaustive()
    }
}

impl Shown {
    fn new(material: Arc<Material>, profile: Arc<TlsProfile>) -> Result<Self, String> {
        let Material { certificate, key, authorities } = &*material;
        let config = Arc::new(config(certificate, key, authorities, &profile)?);
        Ok(Self { config, profile, material })
    }

    /// The same for another profile; what was agreed on before stays when that one cannot be used.
    fn anew(&self, profile: Arc<TlsProfile>) -> Self {
        let material = Arc::clone(&self.material);
        Self::new(Arc::clone(&material), Arc::clone(&profile)).unwrap_or_else(|error| {
            tracing::warn!(error, "the TLS profile cannot be used");
            Self { config: Arc::clone(&self.config), profile, material }
        })
    }
}

impl ServingIdentity {
    /// One that is to be set, for a server that accepts what `profile` says.
    pub fn new(profile: impl Into<SharedProfile>) -> Self {
        Self { profile: profile.into(), ..Self::default() }
    }

    /// Serves with this certificate chain and key (both PEM) from the next connection on.
    ///
    /// # Errors
    /// They are malformed, or do not belong together.
    pub fn set(
        &self,
        certificate: &[u8],
        key: &[u8],
        authorities: &Authorities,
    ) -> Result<(), ListenError> {
        let (certificate, key) = (certificate.to_vec(), key.to_vec());
        let material = Material { certificate, key, authorities: authorities.clone() };
        let shown = Shown::new(Arc::new(material), self.profile.get());
        self.shown.store(Some(Arc::new(shown.map_err(ListenError::Certificate)?)));
        Ok(())
    }

    /// When the certificate that is shown ends; nothing while there is none.
    pub(crate) fn ends_at(&self) -> Option<Timestamp> {
        self.shown.load().as_ref().and_then(|shown| ends_at(&shown.material.certificate))
    }

    /// What accepts connections now: by the profile that counts now.
    pub(crate) fn acceptor(&self) -> Option<TlsAcceptor> {
        let mut shown = self.shown.load_full()?;
        let profile = self.profile.get();
        if !Arc::ptr_eq(&shown.profile, &profile) {
            let anew = Arc::new(shown.anew(profile));
            // Whoever has set another certificate meanwhile is not overruled.
            self.shown.compare_and_swap(&Some(shown), Some(Arc::clone(&anew)));
            shown = anew;
        }
        Some(TlsAcceptor::from(Arc::clone(&shown.config)))
    }
}

fn config(
    pem: &[u8],
    key: &[u8],
    authorities: &Authorities,
    profile: &TlsProfile,
) -> Result<ServerConfig, String> {
    let provider = Arc::new(profile.provider());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| error.to_string())?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&profile.versions())
        .map_err(|error| error.to_string())?;
    let roots = authorities.roots();
    let builder = if roots.is_empty() {
        builder.with_no_client_auth()
    } else {
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .allow_unauthenticated()
            .build()
            .map_err(|error| error.to_string())?;
        builder.with_client_cert_verifier(verifier)
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// When the first certificate of a chain ends.
fn ends_at(pem: &[u8]) -> Option<Timestamp> {
    let certificate = CertificateDer::from_pem_slice(pem).ok()?;
    let (_, certificate) = X509Certificate::from_der(&certificate).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}
