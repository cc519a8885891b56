//! Servers over HTTP/1.1, with TLS or without, that go on answering while callers are silent.
//!
//! ```text
//! mod         a server: its address, its limits, and the loop that accepts connections
//! places      how many callers are connected at most, and who has to go for another one
//! connection  one caller: handshake, requests, and how long each may take
//! ```
//! Callers with the front proxy's client certificate are those for which an aggregated API exists: they
//! are not counted, and no number of others keeps them out. For all other callers there are
//! [`Limits::callers`] places; when all are taken, the oldest idle caller of the address that holds most
//! is closed, so a silent client never keeps a probe out.

mod connection;
mod places;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::connection::Connection;
use self::places::ConnectionSlots;
use crate::callers::Authorities;
use crate::tasks::{Tasks, contained};
use crate::tls::{ListenError, ServingIdentity};

/// Pause after the system refused to accept a connection, for lack of file descriptors mostly.
const PAUSE: Duration = Duration::from_millis(100);

/// How many callers a server has, and how long they may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections without the front proxy's certificate, those in a handshake included.
    pub(crate) callers: usize,
    /// How long a new connection has for its first request before it may be closed for another one.
    pub(crate) grace: Duration,
    /// How long a TLS handshake may take.
    pub(crate) handshake: Duration,
    /// How long a caller may take until the next request's headers are complete.
    pub(crate) headers: Duration,
    /// The same for the front proxy: longer than the 90 s for which kube-apiserver keeps an idle
    /// connection, so that no request meets one that is being closed.
    pub(crate) front_proxy: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            callers: 256,
            grace: Duration::from_millis(250),
            handshake: Duration::from_secs(10),
            headers: Duration::from_secs(10),
            front_proxy: Duration::from_secs(120),
        }
    }
}

/// What a server needs for TLS: what it shows, and whose certificates count.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(crate) identity: ServingIdentity,
    pub(crate) authorities: Arc<ArcSwap<Authorities>>,
}

/// Who sent a request; handlers get it as [`axum::extract::ConnectInfo`].
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) address: SocketAddr,
    /// The certificates with which it introduced itself; none without.
    pub(crate) chain: Arc<[CertificateDer<'static>]>,
}

/// A server that listens and does not accept yet.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    limits: Limits,
}

impl Server {
    /// Listens on `address` (`host:port`, port 0 for any).
    ///
    /// # Errors
    /// The address is taken or invalid.
    pub(crate) async fn bind(address: &str, tls: Option<Tls>) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Address { address: address.to_owned(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, tls, limits: Limits::default() })
    }

    /// The same with other limits.
    #[cfg(test)]
    pub(crate) fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers with `router` as a critical task of this name: when connections cannot be accepted any
    /// more, the process ends with the cause. A panic of a handler ends its connection only.
    pub(crate) fn serve(self, name: &str, router: Router, tasks: &Tasks) {
        tasks.spawn(name, self.accept(router, tasks.token()));
    }

    async fn accept(self, router: Router, shutdown: CancellationToken) {
        let (places, open) = (Arc::new(ConnectionSlots::new(self.limits)), TaskTracker::new());
        loop {
            let (stream, address) = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                accepted = self.next() => accepted,
            };
            // What is shown is looked at before the place: without it there is nothing to wait for.
            let acceptor = self.tls.as_ref().map(|tls| tls.identity.acceptor());
            if matches!(acceptor, Some(None)) {
                continue;
            }
            let connection = Connection {
                place: places.enter(address.ip().to_canonical()).await,
                address,
                acceptor: acceptor.flatten(),
                authorities: self.tls.as_ref().map(|tls| Arc::clone(&tls.authorities)),
                limits: self.limits,
                shutdown: shutdown.clone(),
            };
            contained("connection", open.track_future(connection.serve(stream, router.clone())));
        }
        open.close();
        open.wait().await;
    }

    async fn next(&self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, address = %self.address, "a connection is not accepted");
                    sleep(PAUSE).await;
                }
            }
        }
    }
}
