//! A proxy before the API server, on this machine only.
//!
//! It speaks HTTP in the clear with the program, and TLS with the API server. Who asks is what the
//! request says: the proxy has no credentials of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use http::header::{HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use kube::client::Body;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tower::{BoxError, ServiceBuilder, service_fn};

use super::hold::{HeldWrites, Hold};
use super::{FaultLayer, Injector};
use crate::operators::free_port;

/// A proxy that ends when dropped.
pub struct Proxy {
    address: SocketAddr,
    /// Says what goes wrong.
    pub injector: Injector,
    hold: Hold,
    is_away: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Proxy {
    /// Stands before the API server of a kubeconfig. Nothing goes wrong yet.
    ///
    /// # Errors
    ///
    /// When the kubeconfig is bad or no port is free.
    pub async fn start(kubeconfig: &Path, injector: Injector) -> Result<Self> {
        Self::start_as(kubeconfig, injector, "").await
    }

    /// The same; the user agent of what passes ends with `name`, by which audit logs know replicas of
    /// one program apart.
    ///
    /// # Errors
    ///
    /// As [`Proxy::start`].
    pub async fn start_as(kubeconfig: &Path, injector: Injector, name: &str) -> Result<Self> {
        let server = server(kubeconfig).await?;
        // Not one that the kernel gives to connections: the proxy may go away and come back to it.
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let listener = TcpListener::bind(address).await.context("no port is free")?;
        let (is_away, away) = watch::channel(false);
        let faults = FaultLayer::new(injector.clone());
        let hold = Hold::default();
        let upstream = Upstream { server, faults, hold: hold.clone(), name: name.to_owned() };
        let running = tokio::spawn(run(address, listener, upstream, away));
        Ok(Self { address, injector, hold, is_away, running })
    }

    /// Requests that come from now on wait so long before they are passed on; those whose client
    /// hangs up meanwhile never are. What is answered already, as watches are, goes on.
    pub fn hold(&self, delay: Duration) {
        self.hold.set(Some(delay));
    }

    /// What became of the writes that were held.
    pub fn held_writes(&self) -> HeldWrites {
        self.hold.writes()
    }

    /// No process listens any more, and every connection is cut.
    pub fn leave(&self) {
        self.is_away.send_replace(true);
    }

    /// A server listens again.
    pub fn come_back(&self) {
        self.is_away.send_replace(false);
    }

    /// What a program takes for the API server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The API server, without credentials and retries.
async fn server(kubeconfig: &Path) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig).context("the kubeconfig is bad")?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(file, &options).await?;
    config.auth_info = AuthInfo::default();
    config.default_retry = false;
    config.read_timeout = None;
    Client::try_from(config).context("cannot make a client")
}

/// Where requests go, and what happens to them on the way.
#[derive(Clone)]
struct Upstream {
    server: Client,
    faults: FaultLayer,
    hold: Hold,
    /// Ends the user agent, if there is one.
    name: String,
}

/// Serves while it is not away.
async fn run(
    address: SocketAddr,
    mut listener: TcpListener,
    upstream: Upstream,
    mut away: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = accept(listener, &upstream) => {}
            Ok(_) = away.wait_for(|away| *away) => {}
        }
        if away.wait_for(|away| !away).await.is_err() {
            return;
        }
        listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) => return eprintln!("the proxy cannot come back to {address}: {error}"),
        };
    }
}

/// Serves connections, which end with this.
async fn accept(listener: TcpListener, upstream: &Upstream) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve(stream, upstream.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, upstream: Upstream) {
    let faults = upstream.faults.clone();
    let forward = service_fn(move |request| forward(upstream.clone(), request));
    let service = ServiceBuilder::new().layer(faults).service(forward);
    let service = TowerToHyperService::new(service);
    // An error is a connection that was cut, by the faults or by the program.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// Dropped by the server when the client hangs up, which is noticed once its body was read.
async fn forward(
    upstream: Upstream,
    request: Request<Incoming>,
) -> Result<Response<Body>, BoxError> {
    let (mut head, body) = request.into_parts();
    head.headers.remove(HOST);
    let body = body.collect().await?.to_bytes();
    upstream.hold.wait(&head.method).await;
    sign(&mut head.headers, &upstream.name)?;
    Ok(upstream.server.send(Request::from_parts(head, Body::from(body))).await?)
}

/// Adds a name to the user agent.
fn sign(headers: &mut HeaderMap, name: &str) -> Result<(), BoxError> {
    if let (false, Some(agent)) = (name.is_empty(), headers.get(USER_AGENT)) {
        let signed = HeaderValue::from_str(&format!("{} {name}", agent.to_str()?))?;
        headers.insert(USER_AGENT, signed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const DELAY: Duration = Duration::from_millis(300);

    /// A proxy before a server that counts what it gets.
    async fn held(seen: &Arc<AtomicUsize>) -> (SocketAddr, Hold) {
        let count = Arc::clone(seen);
        let server = service_fn(move |_: Request<Body>| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, BoxError>(Response::new(Body::from(b"done".to_vec()))) }
        });
        let faults = FaultLayer::new(Injector::new(1));
        let hold = Hold::default();
        hold.set(Some(DELAY));
        let server = Client::new(server, "default");
        let upstream = Upstream { server, faults, hold: hold.clone(), name: String::new() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { accept(listener, &upstream).await });
        (address, hold)
    }

    async fn post(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}";
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    #[tokio::test]
    async fn what_is_held_is_passed_on_unless_its_client_hangs_up() {
        let seen = Arc::new(AtomicUsize::new(0));
        let (address, hold) = held(&seen).await;
        drop(post(address).await);
        let mut stream = post(address).await;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        assert_eq!(hold.writes(), HeldWrites { waiting: 0, passed_on: 1, hung_up: 1 });
        assert_eq!(seen.load(Ordering::SeqCst), 1);
    }
}
