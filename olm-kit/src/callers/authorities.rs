//! Whose certificates count, as the cluster publishes it for aggregated APIs: the ConfigMap
//! `kube-system/extension-apiserver-authentication`.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Where the cluster says it.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

/// Parts of it: the authorities of the front proxy, and of all other callers.
const FRONT_PROXY: &str = "requestheader-client-ca-file";
const CLIENTS: &str = "client-ca-file";

/// Why it is not known whose certificates count.
#[derive(Debug, thiserror::Error)]
pub enum AuthoritiesError {
    /// The ConfigMap cannot be read.
    #[error("cannot read ConfigMap {NAMESPACE}/{NAME}, which says whose certificates count")]
    Read(#[source] Box<kube::Error>),
    /// A part of it is malformed.
    #[error("{key} of ConfigMap {NAMESPACE}/{NAME} is malformed: {reason}")]
    Malformed {
        /// The part.
        key: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// The authorities of a cluster, and how its front proxy passes callers on.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    data: BTreeMap<String, String>,
    front_proxy: Option<Verifier>,
    clients: Option<Verifier>,
    /// Common names that the front proxy may have; any when empty.
    allowed_names: Vec<String>,
    /// Headers that name the user.
    pub(crate) user_headers: Vec<String>,
    /// Headers that name a group each.
    pub(crate) group_headers: Vec<String>,
    /// Beginnings of headers with other facts about the user.
    pub(crate) extra_prefixes: Vec<String>,
}

type Verifier = Arc<dyn ClientCertVerifier>;

impl Authorities {
    /// Reads what the cluster says now.
    ///
    /// # Errors
    /// It cannot be read, or is malformed.
    pub async fn read(client: &Client) -> Result<Self, AuthoritiesError> {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let map = maps.get(NAME).await.map_err(|error| AuthoritiesError::Read(Box::new(error)))?;
        Self::parse(map.data.unwrap_or_default())
    }

    /// Understands the content of the ConfigMap. Without an authority for the front proxy no caller
    /// is believed to be it.
    ///
    /// # Errors
    /// A part is malformed.
    pub fn parse(data: BTreeMap<String, String>) -> Result<Self, AuthoritiesError> {
        let defaults = |list: Vec<String>, fallback: &str| match list.is_empty() {
            true => vec![fallback.to_owned()],
            false => list,
        };
        Ok(Self {
            front_proxy: verifier(&data, FRONT_PROXY)?,
            clients: verifier(&data, CLIENTS)?,
            allowed_names: names(&data, "requestheader-allowed-names")?,
            user_headers: defaults(
                names(&data, "requestheader-username-headers")?,
                "X-Remote-User",
            ),
            group_headers: defaults(names(&data, "requestheader-group-headers")?, "X-Remote-Group"),
            extra_prefixes: defaults(
                names(&data, "requestheader-extra-headers-prefix")?,
                "X-Remote-Extra-",
            ),
            data,
        })
    }

    /// The authorities of clients in `pem`; no caller is believed to be a front proxy.
    ///
    /// # Errors
    /// What is wrong with the certificates.
    pub(crate) fn of_clients(pem: &str) -> Result<Self, String> {
        let data = BTreeMap::from([(CLIENTS.to_owned(), pem.to_owned())]);
        Self::parse(data).map_err(|error| match error {
            AuthoritiesError::Malformed { reason, .. } => reason,
            AuthoritiesError::Read(cause) => cause.to_string(),
        })
    }

    /// Whether both say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.data == other.data
    }

    /// All authorities, for the TLS handshake.
    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        for key in [FRONT_PROXY, CLIENTS] {
            let text = self.data.get(key).map(String::as_str).unwrap_or_default();
            // Malformed text was refused when it was parsed.
            let certificates = CertificateDer::pem_slice_iter(text.as_bytes()).flatten();
            roots.add_parsable_certificates(certificates);
        }
        roots
    }

    /// Whether the certificate is the front proxy's: its authority vouches for it, and its name is one
    /// of those that the front proxy may have.
    pub(crate) fn is_the_front_proxy(&self, chain: &[CertificateDer<'static>]) -> bool {
        let name = || chain.first().and_then(common_name);
        is_vouched_for(self.front_proxy.as_ref(), chain)
            && name().is_some_and(|it| self.allows(&it))
    }

    fn allows(&self, name: &str) -> bool {
        self.allowed_names.is_empty() || self.allowed_names.iter().any(|one| one == name)
    }

    /// Whether the certificate is that of a user of the cluster.
    pub(crate) fn is_client(&self, chain: &[CertificateDer<'static>]) -> bool {
        is_vouched_for(self.clients.as_ref(), chain)
    }
}

/// The common name of a certificate.
fn common_name(certificate: &CertificateDer<'static>) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.subject().iter_common_name().next()?.as_str().ok()?.to_owned())
}

fn is_vouched_for(verifier: Option<&Verifier>, chain: &[CertificateDer<'static>]) -> bool {
    let (Some(verifier), Some((first, others))) = (verifier, chain.split_first()) else {
        return false;
    };
    verifier.verify_client_cert(first, others, UnixTime::now()).is_ok()
}

fn verifier(
    data: &BTreeMap<String, String>,
    key: &'static str,
) -> Result<Option<Verifier>, AuthoritiesError> {
    let Some(text) = data.get(key).filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let malformed = |reason: String| AuthoritiesError::Malformed { key, reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|error| malformed(error.to_string()))?;
        roots.add(certificate).map_err(|error| malformed(error.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map(Some).map_err(|error| malformed(error.to_string()))
}

/// A JSON list of texts; empty when it is not there.
fn names(
    data: &BTreeMap<String, String>,
    key: &'static str,
) -> Result<Vec<String>, AuthoritiesError> {
    let Some(text) = data.get(key) else { return Ok(Vec::new()) };
    serde_json::from_str(text)
        .map_err(|error| AuthoritiesError::Malformed { key, reason: error.to_string() })
}
