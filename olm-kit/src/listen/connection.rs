//! One caller: the handshake, and requests one after the other.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::places::CallerSlot;
use super::{Caller, Limits};
use crate::callers::Authorities;

/// Bytes of a request's line and headers. The front proxy passes all groups of a user on.
const HEAD: usize = 128 * 1024;

/// A connection that was accepted.
pub(super) struct Connection {
    pub(super) place: CallerSlot,
    pub(super) address: SocketAddr,
    /// Shakes hands; nothing where there is no TLS.
    pub(super) acceptor: Option<TlsAcceptor>,
    /// Whose certificates count.
    pub(super) authorities: Option<Arc<ArcSwap<Authorities>>>,
    pub(super) limits: Limits,
    pub(super) shutdown: CancellationToken,
}

impl Connection {
    /// Answers until the caller or the server ends, or the place is needed for another caller.
    pub(super) async fn serve(self, stream: TcpStream, router: Router) {
        let (closed, caller) = (self.place.closed(), self.address);
        tokio::select! {
            () = closed.cancelled() => tracing::debug!(%caller, "closed for another caller"),
            () = self.begin(stream, router) => {}
        }
    }

    async fn begin(mut self, stream: TcpStream, router: Router) {
        let Some(acceptor) = self.acceptor.take() else {
            return self.answer(stream, Arc::default(), router).await;
        };
        let stream = tokio::select! {
            () = self.shutdown.cancelled() => return,
            stream = timeout(self.limits.handshake, acceptor.accept(stream)) => stream,
        };
        match stream {
            Ok(Ok(stream)) => {
                let chain = stream.get_ref().1.peer_certificates().unwrap_or_default().iter();
                let chain = chain.cloned().map(CertificateDer::into_owned).collect();
                self.answer(stream, chain, router).await;
            }
            Ok(Err(error)) => tracing::debug!(caller = %self.address, %error, "no TLS handshake"),
            Err(_) => tracing::debug!(caller = %self.address, "TLS handshake takes too long"),
        }
    }

    /// Serves requests over a stream. The front proxy gives its place back: it is not counted.
    async fn answer(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        chain: Arc<[CertificateDer<'static>]>,
        router: Router,
    ) {
        let headers = self.headers_within(&chain);
        let caller = Caller { address: self.address, chain };
        let place = Arc::new(self.place);
        let service = service_fn(move |request: Request<Incoming>| {
            let (router, busy) = (router.clone(), place.busy());
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(caller.clone()));
            async move {
                let _busy = busy;
                router.oneshot(request).await
            }
        });
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(headers).max_buf_size(HEAD);
        let mut serving = pin!(server.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = serving.as_mut() => ended,
            () = self.shutdown.cancelled() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(caller = %self.address, %error, "a connection ended early");
        }
    }

    /// How long the caller may be silent.
    fn headers_within(&self, chain: &[CertificateDer<'static>]) -> Duration {
        let authorities = self.authorities.as_ref().map(|authorities| authorities.load());
        if !authorities.is_some_and(|authorities| authorities.is_the_front_proxy(chain)) {
            return self.limits.headers;
        }
        self.place.give_back();
        self.limits.front_proxy
    }
}
