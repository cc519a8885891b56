//! Whose certificates are good: what authorities of the system signed, and others that are named; or
//! any, for users who ask for that.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Whose certificates are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that an authority has signed.
    Verified,
    /// All.
    AnyCertificate,
}

/// A configuration for clients that trust these authorities (PEM) beside those of the system.
pub(super) fn config(trust: Trust, authorities: &[Vec<u8>]) -> io::Result<ClientConfig> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    if trust == Trust::AnyCertificate {
        return unverified(provider);
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(builder.with_root_certificates(roots(authorities)?).with_no_client_auth())
}

fn roots(authorities: &[Vec<u8>]) -> io::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(system.certs);
    for file in authorities {
        for certificate in CertificateDer::pem_slice_iter(file) {
            store.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
    }
    if store.is_empty() {
        let why = "the system has no certificates of authorities, and none are named";
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    Ok(store)
}

/// A configuration that takes any certificate: what is said is secret, but not to which server.
fn unverified(provider: CryptoProvider) -> io::Result<ClientConfig> {
    let provider = Arc::new(provider);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let verifier = Arc::new(AnyCertificate(provider));
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Takes any certificate, if only the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
