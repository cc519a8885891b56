//! Where the endpoints listen: plain, or over TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use kube::Client;
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use super::AdminError;
use super::guard::{Caller, Guard};
use crate::metrics::Metrics;
use crate::tasks::Tasks;
use crate::tls::{Followed, ListenError, SharedProfile, TlsFiles, TlsListener};

/// What is needed to serve over TLS.
pub(super) struct Tls {
    pub(super) files: TlsFiles,
    pub(super) profile: SharedProfile,
    /// Asks the cluster about callers.
    pub(super) client: Client,
}

/// Listens, and says whom to let in.
pub(super) async fn bind(
    address: &str,
    tls: Option<Tls>,
    metrics: &Metrics,
    tasks: &Tasks,
) -> Result<(AnyListener, Guard), AdminError> {
    let failed = |source| AdminError::Address { address: address.to_owned(), source };
    let Some(Tls { files, profile, client }) = tls else {
        let plain = TcpListener::bind(address).await.map_err(failed)?;
        return Ok((AnyListener::Plain(plain), Guard::Open));
    };
    let followed = Followed::begin(files, profile).await?;
    metrics.certificate("admin", &followed.identity);
    let guard = Guard::asking(Arc::clone(&followed.authorities), client);
    let listener = TlsListener::bind(address, followed.identity.clone()).await;
    let listener = listener.map_err(|error| match error {
        ListenError::Address { source, .. } => failed(source),
        ListenError::Certificate(reason) => failed(io::Error::other(reason)),
    })?;
    let token = tasks.token();
    tasks.spawn("certificates of the admin endpoints", async move {
        tokio::select! {
            () = followed.follow() => {}
            () = token.cancelled() => {}
        }
    });
    Ok((AnyListener::Tls(listener), guard))
}

/// Either way to listen.
pub(super) enum AnyListener {
    Plain(TcpListener),
    Tls(TlsListener),
}

/// A connection of either kind: plain, or TLS.
type AnyStream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

impl Listener for AnyListener {
    type Io = AnyStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self {
            Self::Plain(listener) => {
                let (stream, caller) = Listener::accept(listener).await;
                (Either::Left(stream), caller)
            }
            Self::Tls(listener) => {
                let (stream, caller) = listener.accept().await;
                (Either::Right(Box::new(stream)), caller)
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        match self {
            Self::Plain(listener) => listener.local_addr(),
            Self::Tls(listener) => listener.local_addr(),
        }
    }
}

impl Connected<IncomingStream<'_, AnyListener>> for Caller {
    fn connect_info(stream: IncomingStream<'_, AnyListener>) -> Self {
        let address = *stream.remote_addr();
        let chain = match stream.io() {
            Either::Left(_) => None,
            Either::Right(stream) => stream.get_ref().1.peer_certificates(),
        };
        let chain = chain.unwrap_or_default().iter();
        Self { address, chain: chain.cloned().map(CertificateDer::into_owned).collect() }
    }
}
