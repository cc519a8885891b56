//! Opens connections for a channel and reports when they end.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use olm_tasks::caught;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::transport::Uri;
use tower::Service;

use super::address::Address;
use super::address::Resolve;
use super::dial::{Dial, Stream};
use super::link::{Lease, Link};
use super::proxy::{Proxy, ProxyServer};

/// Dials one address, whatever URI the channel asks for.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    pub(super) address: Address,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) proxy: Option<Proxy>,
    pub(super) dialer: Option<Arc<dyn Dial>>,
    pub(super) dial_timeout: Duration,
    pub(super) link: Link,
}

/// A connection that announces its end by dropping a lease, and that can be aborted.
pub(super) struct Transport {
    stream: Box<dyn Stream>,
    aborted: Pin<Box<WaitForCancellationFutureOwned>>,
    _lease: Lease,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

impl Connector {
    async fn connect(self) -> io::Result<TokioIo<Transport>> {
        let stream = match &self.dialer {
            Some(dialer) => within(self.dial_timeout, dialer.dial()).await?,
            None => Box::new(self.reach().await?),
        };
        Ok(TokioIo::new(Transport::new(stream, self.link.opened())))
    }

    /// Over TCP, through a proxy where there is one.
    async fn reach(&self) -> io::Result<TcpStream> {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.for_address(&self.address));
        match proxy.transpose()?.flatten() {
            Some(proxy) => self.dial_through(&proxy).await,
            None => self.dial(&self.address).await,
        }
    }

    async fn dial_through(&self, proxy: &ProxyServer) -> io::Result<TcpStream> {
        let mut stream = self.dial(&proxy.address).await?;
        tokio::time::timeout(self.dial_timeout, proxy.tunnel(&mut stream, &self.address))
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the proxy does not answer"))??;
        Ok(stream)
    }

    /// Tries every address of a host.
    async fn dial(&self, host: &Address) -> io::Result<TcpStream> {
        let addresses = self.resolver.resolve(host).await?;
        let mut failure = io::Error::new(
            io::ErrorKind::NotFound,
            format!("host {:?} has no address", host.host()),
        );
        for address in addresses {
            match dial(address, self.dial_timeout).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Transport>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        // A panic would end the channel's own task, and with it the channel for good.
        let connecting = caught(self.clone().connect());
        Box::pin(async move { connecting.await.unwrap_or_else(|it| Err(io::Error::other(it))) })
    }
}

/// What another way to the server leads to, in time.
async fn within<T>(limit: Duration, dialled: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, "the connection is not there in time");
    tokio::time::timeout(limit, dialled).await.map_err(|_| late())?
}

/// Opens a connection; the error names the address.
async fn dial(address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("dial tcp {address}: {error}"));
    let stream = tokio::time::timeout(limit, TcpStream::connect(address))
        .await
        .map_err(|_| named(io::Error::new(io::ErrorKind::TimedOut, "i/o timeout")))?
        .map_err(named)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Transport {
    fn new(stream: Box<dyn Stream>, lease: Lease) -> Self {
        let aborted = Box::pin(lease.abort().cancelled_owned());
        Self { stream, aborted, _lease: lease }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.aborted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
