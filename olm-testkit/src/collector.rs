//! A collector of spans (OTLP over gRPC) on the loopback address, which keeps what it is sent.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::wait::TIMEOUT;

/// An empty message: not compressed, and no byte long.
const NOTHING: &[u8] = &[0; 5];

/// Takes spans until dropped.
pub struct Collector {
    address: SocketAddr,
    /// All requests so far, one after the other. Names in them are plain text.
    taken: watch::Receiver<Vec<u8>>,
    running: JoinHandle<()>,
}

impl Collector {
    /// Listens on a free port.
    ///
    /// # Errors
    ///
    /// No port is free.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let address = listener.local_addr().context("the listener has no address")?;
        let (sender, taken) = watch::channel(Vec::new());
        let running = tokio::spawn(accept(listener, Arc::new(sender)));
        Ok(Self { address, taken, running })
    }

    /// What a program gets as `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until each of these texts was in what came.
    ///
    /// # Errors
    ///
    /// One of them does not come in time.
    pub async fn until_reported(&self, texts: &[&str]) -> Result<()> {
        let holds = |taken: &Vec<u8>| texts.iter().all(|text| contains(taken, text.as_bytes()));
        let mut taken = self.taken.clone();
        let reported = timeout(TIMEOUT, taken.wait_for(holds)).await;
        reported
            .with_context(|| format!("the collector did not get {texts:?}"))?
            .context("the collector has ended")?;
        Ok(())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn accept(listener: TcpListener, taken: Arc<watch::Sender<Vec<u8>>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let taken = Arc::clone(&taken);
        let service = service_fn(move |request| take(Arc::clone(&taken), request));
        let connection = http2::Builder::new(TokioExecutor::new());
        // It ends with the program that opened it.
        tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
    }
}

/// Answers as the protocol wants it, so that the program goes on sending.
async fn take(
    taken: Arc<watch::Sender<Vec<u8>>>,
    request: Request<Incoming>,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    taken.send_modify(|all| all.extend_from_slice(&body));
    let fine = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
    let trailers = HeaderMap::from_iter([fine]);
    let answer =
        Full::new(Bytes::from_static(NOTHING)).with_trailers(async move { Some(Ok(trailers)) });
    let mut response = Response::new(answer.boxed_unsync());
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    Ok(response)
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}
