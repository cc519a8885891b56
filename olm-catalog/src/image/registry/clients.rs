//! One client for each place where a registry may lie.
//!
//! A connection that a registry of a private network may use is none for a public one, so they have
//! no connections in common.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ::http::Uri;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::TokioExecutor;
use rustls::ClientConfig;

use super::dial::{Dialer, Network, addresses};
use super::http::Trust;
use super::place::Place;
use super::trust;

pub(super) type Client = Pool<HttpsConnector<Dialer>, Empty<Bytes>>;

/// The clients. Clones share connections.
#[derive(Clone)]
pub(super) struct Clients {
    network: Arc<dyn Network>,
    of: BTreeMap<Place, Client>,
}

impl Clients {
    pub(super) fn new(trust: Trust, network: Arc<dyn Network>) -> io::Result<Self> {
        let config = config(trust)?;
        let client = |home: Place| {
            let dialer = Dialer { network: Arc::clone(&network), home };
            let builder = HttpsConnectorBuilder::new().with_tls_config(config.clone());
            let connector = builder.https_or_http().enable_http1().wrap_connector(dialer);
            (home, Pool::builder(TokioExecutor::new()).build(connector))
        };
        Ok(Self { of: Place::ALL.into_iter().map(client).collect(), network })
    }

    /// The client for a registry (`HOST` or `HOST:PORT`), and whatever it refers to.
    pub(super) async fn of(&self, home: &str) -> io::Result<&Client> {
        let unusable = || io::Error::new(io::ErrorKind::InvalidInput, "it is no name of a server");
        let home: Uri = format!("https://{home}/").parse().map_err(|_| unusable())?;
        let addresses = addresses(&*self.network, &home).await?;
        let place = Place::of_all(addresses.iter().map(|address| address.ip()));
        self.of.get(&place).ok_or_else(unusable)
    }
}

fn config(trust: Trust) -> io::Result<ClientConfig> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    if trust == Trust::AnyCertificate {
        return trust::unverified(provider);
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(builder.with_native_roots()?.with_no_client_auth())
}
