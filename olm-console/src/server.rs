//! Connections, how many there are and how long they may be silent.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use crate::gate::Gate;
use crate::guard::Guard;
use crate::live::{self, Live};
use crate::reader::{self, WAITING};
use crate::routes::router;
use crate::session::Identity;
use crate::tls::Tls;
use crate::{Console, ConsoleError};

/// Connections at once: more than a browser opens, and those of pages that are live.
const CONNECTIONS: usize = 64 + live::PAGES;

/// Bytes of a request's line and headers.
const HEAD: usize = 16 * 1024;

/// Headers of a request.
const HEADERS: usize = 64;

/// How long a caller may take until a request's headers are complete.
const SILENT: Duration = Duration::from_secs(10);

/// Pause after the system did not give a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a connection may last, unless a page gets its events there.
const LONGEST: Duration = Duration::from_secs(600);

/// A console that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    url: String,
}

impl Server {
    /// Listens on a port of 127.0.0.1; 0 is any that is free.
    ///
    /// # Errors
    /// The port is taken, or the system gives no random bytes.
    pub async fn bind(port: u16) -> Result<Self, ConsoleError> {
        let failed = |source| ConsoleError::Listen { port, source };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let (guard, token) = Guard::new(port)?;
        let url = format!("http://127.0.0.1:{port}/?token={token}");
        Ok(Self { listener, guard, url })
    }

    /// The address to open, with the token, which is used once.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Answers until it is dropped. Pages are read by this future, requests are tasks of their own.
    ///
    /// # Errors
    /// None: what a caller does wrong ends his connection.
    pub async fn serve(self, console: Console) -> Result<(), ConsoleError> {
        let (questions, asked) = mpsc::channel(WAITING);
        let live = Live::new(console.reading.sources.olm_namespace.clone());
        let gate = Gate::Own(self.guard, Identity::own(console.cluster.clone()));
        let router = router(Arc::new(gate), questions, live.clone());
        tokio::select! {
            () = accept(self.listener, router, None, CONNECTIONS) => {}
            () = reader::run(console, live, asked) => {}
        }
        Ok(())
    }
}

/// Accepts connections for as long as this is awaited, so many at once.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    tls: Option<Arc<Tls>>,
    connections: usize,
) {
    let places = Arc::new(Semaphore::new(connections));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection = serve(stream, router.clone(), tls.clone(), place);
                olm_tasks::contained("connection", connection);
            }
            // For lack of file descriptors mostly.
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Serves a caller, after a handshake where there is TLS.
async fn serve(
    stream: TcpStream,
    router: Router,
    tls: Option<Arc<Tls>>,
    _place: OwnedSemaphorePermit,
) {
    match tls {
        None => answer(stream, router).await,
        Some(tls) => {
            // An error is the caller's, who has gone.
            if let Ok(Ok(stream)) = timeout(SILENT, tls.acceptor().accept(stream)).await {
                answer(stream, router).await;
            }
        }
    }
}

/// Serves requests over a stream until it ends, or for long enough.
async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router) {
    let streams = Arc::new(AtomicBool::new(false));
    let noted = streams.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (router, streams) = (router.clone(), noted.clone());
        let is_stream = request.uri().path() == live::PATH;
        async move {
            let answered = router.oneshot(request.map(Body::new)).await;
            let begins = |response: &Response| is_stream && response.status().is_success();
            streams.fetch_or(answered.as_ref().is_ok_and(begins), Ordering::Relaxed);
            answered
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(SILENT);
    server.max_buf_size(HEAD).max_headers(HEADERS).half_close(false);
    let mut served = pin!(server.serve_connection(TokioIo::new(stream), service));
    // An error is the caller's, who has gone.
    while timeout(LONGEST, served.as_mut()).await.is_err() && streams.load(Ordering::Relaxed) {}
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::response::sse::{Event, KeepAlive, Sse};
    use axum::routing::get;
    use futures::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// How long a connection lasts after a request, up to a day.
    async fn lasts(path: &str) -> Duration {
        let events = async || {
            let events = stream::pending::<Result<Event, Infallible>>();
            Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(20)))
        };
        let silent = async || std::future::pending::<()>().await;
        let router = Router::new().route(live::PATH, get(events)).route("/silent", get(silent));
        let (mut browser, connection) = tokio::io::duplex(HEAD);
        let served = tokio::spawn(answer(connection, router));
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        browser.write_all(request.as_bytes()).await.unwrap();
        let begun = Instant::now();
        let mut buffer = [0; 1024];
        while begun.elapsed() < DAY && browser.read(&mut buffer).await.unwrap() > 0 {}
        served.abort();
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_live_keeps_its_connection_for_a_day() {
        assert!(lasts(live::PATH).await >= DAY);
        let other = lasts("/silent").await;
        assert!((LONGEST..LONGEST + SILENT).contains(&other), "{other:?}");
    }
}
