//! Clients of a port: how many there may be, which goes for another one, and how long one may take to begin.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Most clients of a port.
const CLIENTS: usize = 128;
/// How long a client may take until it has said that it speaks HTTP/2; pings find those that vanish later.
const BEGIN: Duration = Duration::from_secs(10);
/// Bytes with which it says so (RFC 9113 3.4).
const PREFACE: usize = 24;

/// The clients of a port, the oldest first.
#[derive(Default)]
pub(super) struct Clients(Vec<Counted>);

struct Counted {
    address: IpAddr,
    closed: Weak<CancellationToken>,
}

impl Clients {
    /// Counts a client in. When there are too many, the oldest of the address that has most goes.
    pub(super) fn admit(&mut self, stream: TcpStream, address: IpAddr) -> Client {
        self.0.retain(|client| client.closed.strong_count() > 0);
        while self.0.len() >= CLIENTS {
            let addresses: Vec<IpAddr> = self.0.iter().map(|client| client.address).collect();
            let Some(victim) = victim(&addresses) else { break };
            if let Some(closed) = self.0.remove(victim).closed.upgrade() {
                closed.cancel();
            }
        }
        let closed = Arc::new(CancellationToken::new());
        self.0.push(Counted { address, closed: Arc::downgrade(&closed) });
        Client::new(stream, closed)
    }
}

/// The first of the address that is there most often.
fn victim(addresses: &[IpAddr]) -> Option<usize> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for address in addresses {
        *counts.entry(*address).or_default() += 1;
    }
    let most = counts.values().max();
    addresses.iter().position(|address| counts.get(address) == most)
}

/// A connection that may be closed for another one.
pub(super) struct Client {
    stream: TcpStream,
    is_closed: Pin<Box<WaitForCancellationFutureOwned>>,
    _counted: Arc<CancellationToken>,
    /// Ends when it should have begun; none once it has.
    begins: Option<Pin<Box<Sleep>>>,
    /// Bytes of its beginning that are still to come.
    missing: usize,
}

impl Client {
    fn new(stream: TcpStream, closed: Arc<CancellationToken>) -> Self {
        // Small answers need not wait for others.
        let _ = stream.set_nodelay(true);
        let is_closed = Box::pin((*closed).clone().cancelled_owned());
        let begins = Some(Box::pin(sleep(BEGIN)));
        Self { stream, is_closed, _counted: closed, begins, missing: PREFACE }
    }

    /// Why nothing is read from it any more.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        match self.begins.as_mut().map(|begins| begins.as_mut().poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(io::ErrorKind::TimedOut.into()),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }

    fn note(&mut self, bytes: usize) {
        self.missing = self.missing.saturating_sub(bytes);
        if self.missing == 0 {
            self.begins = None;
        }
    }
}

impl Connected for Client {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            return self.poll_end(context).map(Err);
        }
        self.note(buffer.filled().len().saturating_sub(before));
        read
    }
}

impl AsyncWrite for Client {
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
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    #[rstest]
    #[case::none(&[], None)]
    #[case::the_oldest(&["10.0.0.1", "10.0.0.2"], Some(0))]
    #[case::of_who_has_most(&["10.0.0.1", "10.0.0.2", "10.0.0.2"], Some(1))]
    fn who_goes(#[case] addresses: &[&str], #[case] expected: Option<usize>) {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(victim(&addresses), expected);
    }

    /// Both ends of a connection that was admitted.
    async fn connected(clients: &mut Clients, address: &str) -> (TcpStream, Client) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        (caller, clients.admit(stream, address.parse().unwrap()))
    }

    #[tokio::test]
    async fn one_address_takes_no_place_of_others() {
        let mut clients = Clients::default();
        let (_caller, mut other) = connected(&mut clients, "10.0.0.2").await;
        let mut silent = Vec::new();
        for _ in 0..=CLIENTS {
            silent.push(connected(&mut clients, "10.0.0.1").await);
        }
        let mut byte = [0];
        let error = silent[0].1.read(&mut byte).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
        let waits = timeout(Duration::from_millis(1), other.read(&mut byte)).await;
        assert!(waits.is_err(), "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_begin_is_closed_and_who_rests_later_is_not() {
        let mut clients = Clients::default();
        let (mut caller, mut client) = connected(&mut clients, "10.0.0.1").await;
        caller.write_all(&[0; PREFACE - 1]).await.unwrap();
        let mut bytes = [0; PREFACE];
        let error = client.read_exact(&mut bytes).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);

        let (mut caller, mut client) = connected(&mut clients, "10.0.0.1").await;
        caller.write_all(&[0; PREFACE]).await.unwrap();
        client.read_exact(&mut bytes).await.unwrap();
        let rests = timeout(BEGIN * 9, client.read(&mut bytes)).await;
        assert!(rests.is_err(), "{rests:?}");
    }
}
