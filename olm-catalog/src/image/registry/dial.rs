//! Connects to servers, but not to every address.
//!
//! Who chooses the name of an image, or answers under it, chooses whom this process connects to. The
//! addresses that a name has are looked at when the connection is made, so that no name can mean
//! something else a moment later. Behind a proxy names are resolved by the proxy, and what it may
//! reach is a matter of its configuration; addresses that stand there as such are looked at all the
//! same.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::Uri;
use async_trait::async_trait;
use futures::future::BoxFuture;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tower::Service;

use super::place::AddressRange;
use crate::registry::client::{Address, Proxy, ProxyServer};

/// Longest time to connect to one address.
const CONNECT: Duration = Duration::from_secs(10);

/// How names become addresses, and addresses connections.
#[async_trait]
pub(in super::super) trait Network: Send + Sync {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// What the operating system does.
pub(super) struct System;

#[async_trait]
impl Network for System {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(lookup_host((host, port)).await?.collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}

/// Connects on behalf of registries that lie in one place.
#[derive(Clone)]
pub(super) struct Dialer {
    pub(super) network: Arc<dyn Network>,
    pub(super) proxy: Option<Proxy>,
    pub(super) home: AddressRange,
}

/// There is no connection.
#[derive(Debug, Error)]
pub(super) enum DialError {
    /// None of the addresses may be connected to.
    #[error("its address is not public, and that of the registry is")]
    NotPublic,
    /// None of the addresses answers.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = BoxFuture<'static, Result<Self::Response, DialError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), DialError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let me = self.clone();
        Box::pin(async move { me.dial(&url).await.map(TokioIo::new) })
    }
}

impl Dialer {
    async fn dial(&self, url: &Uri) -> Result<TcpStream, DialError> {
        let is_secure = url.scheme_str() == Some("https");
        if let Some(proxy) = self.proxy.as_ref().filter(|_| is_secure) {
            let target = address_of(url)?;
            if let Some(server) = proxy.for_address(&target)? {
                return self.through(&server, &target).await;
            }
        }
        self.directly(url).await
    }

    /// A tunnel through a proxy.
    async fn through(
        &self,
        server: &ProxyServer,
        target: &Address,
    ) -> Result<TcpStream, DialError> {
        let literal = AddressRange::of_text(target.host());
        if literal.is_some_and(|place| !self.home.may_refer_to(place)) {
            return Err(DialError::NotPublic);
        }
        let proxy = format!("http://{}/", server.address()).parse().map_err(io::Error::other)?;
        let mut error = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses(&*self.network, &proxy).await? {
            match timeout(CONNECT, self.network.connect(address)).await {
                Ok(Ok(mut stream)) => {
                    server.tunnel(&mut stream, target).await?;
                    return Ok(stream);
                }
                Ok(Err(refused)) => error = refused,
                Err(_) => error = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(error.into())
    }

    /// The first address that answers, of those that may be connected to.
    async fn directly(&self, url: &Uri) -> Result<TcpStream, DialError> {
        let mut error = DialError::NotPublic;
        for address in addresses(&*self.network, url).await? {
            if !self.home.may_refer_to(AddressRange::of(address.ip())) {
                continue;
            }
            match timeout(CONNECT, self.network.connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(refused)) => error = refused.into(),
                Err(_) => error = DialError::Io(io::ErrorKind::TimedOut.into()),
            }
        }
        Err(error)
    }
}

/// Host and port of the server that a URL names.
fn server(url: &Uri) -> (&str, u16) {
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("http") { 80 } else { 443 });
    (url.host().unwrap_or_default().trim_matches(['[', ']']), port)
}

/// The server that a URL names, for a proxy.
pub(super) fn address_of(url: &Uri) -> io::Result<Address> {
    let (host, port) = server(url);
    let text =
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    Address::parse(&text).map_err(io::Error::other)
}

/// The addresses of the server that a URL names.
pub(super) async fn addresses(network: &dyn Network, url: &Uri) -> io::Result<Vec<SocketAddr>> {
    let (host, port) = server(url);
    let found = match host.parse() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => network.lookup(host, port).await?,
    };
    if found.is_empty() {
        let what = format!("the name {host} has no address");
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    Ok(found)
}
