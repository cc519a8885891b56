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
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::TokioExecutor;

use super::dial::{Dialer, Network, address_of, addresses};
use super::place::AddressRange;
use super::trust::{self, Trust};
use crate::registry::client::Proxy;

pub(super) type Client = Pool<HttpsConnector<Dialer>, Empty<Bytes>>;

/// What clients are made of.
pub(super) struct ClientsOptions {
    pub(super) trust: Trust,
    pub(super) network: Arc<dyn Network>,
    /// The proxy through which registries with TLS are reached.
    pub(super) proxy: Option<Proxy>,
}

/// The clients.
pub(super) struct Clients {
    network: Arc<dyn Network>,
    proxy: Option<Proxy>,
    of: BTreeMap<AddressRange, Client>,
}

impl Clients {
    /// Clients that trust these authorities (PEM) beside those of the system.
    pub(super) fn new(options: &ClientsOptions, authorities: &[Vec<u8>]) -> io::Result<Self> {
        let ClientsOptions { trust, network, proxy } = options;
        let config = trust::config(*trust, authorities)?;
        let client = |home: AddressRange| {
            let (network, proxy) = (Arc::clone(network), proxy.clone());
            let dialer = Dialer { network, proxy, home };
            let builder = HttpsConnectorBuilder::new().with_tls_config(config.clone());
            let connector = builder.https_or_http().enable_http1().wrap_connector(dialer);
            (home, Pool::builder(TokioExecutor::new()).build(connector))
        };
        let of = AddressRange::ALL.into_iter().map(client).collect();
        Ok(Self { of, network: Arc::clone(network), proxy: proxy.clone() })
    }

    /// The client for a registry (`HOST` or `HOST:PORT`), and whatever it refers to.
    pub(super) async fn of(&self, home: &str, without_tls: bool) -> io::Result<&Client> {
        let unusable = || io::Error::new(io::ErrorKind::InvalidInput, "it is no name of a server");
        let scheme = if without_tls { "http" } else { "https" };
        let home: Uri = format!("{scheme}://{home}/").parse().map_err(|_| unusable())?;
        self.of.get(&self.place(&home).await?).ok_or_else(unusable)
    }

    /// Where a registry lies. What is behind a proxy is in public: only the proxy knows better.
    async fn place(&self, home: &Uri) -> io::Result<AddressRange> {
        let is_proxied = match &self.proxy {
            Some(proxy) if home.scheme_str() == Some("https") => {
                proxy.for_address(&address_of(home)?)?.is_some()
            }
            _ => false,
        };
        if is_proxied {
            let host = home.host().unwrap_or_default().trim_matches(['[', ']']);
            return Ok(AddressRange::of_text(host).unwrap_or(AddressRange::Public));
        }
        let addresses = addresses(&*self.network, home).await?;
        Ok(AddressRange::of_all(addresses.iter().map(|address| address.ip())))
    }
}
