//! A proxy before the API server, on this machine only.
//!
//! It speaks HTTP in the clear with the program, and TLS with the API server. Who asks is what the
//! request says: the proxy has no credentials of its own.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use http::header::HOST;
use http::{Request, Response};
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

use super::{FaultLayer, Injector};
use crate::operators::free_port;

/// A proxy that ends when dropped.
pub struct Proxy {
    address: SocketAddr,
    /// Says what goes wrong.
    pub injector: Injector,
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
        let server = server(kubeconfig).await?;
        // Not one that the kernel gives to connections: the proxy may go away and come back to it.
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let listener = TcpListener::bind(address).await.context("no port is free")?;
        let (is_away, away) = watch::channel(false);
        let faults = FaultLayer::new(injector.clone());
        let running = tokio::spawn(run(address, listener, Way { server, faults }, away));
        Ok(Self { address, injector, is_away, running })
    }

    /// Nobody listens any more, and every connection is cut.
    pub fn leave(&self) {
        self.is_away.send_replace(true);
    }

    /// Somebody listens again.
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
struct Way {
    server: Client,
    faults: FaultLayer,
}

/// Serves while it is not away.
async fn run(
    address: SocketAddr,
    mut listener: TcpListener,
    way: Way,
    mut away: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = accept(listener, &way) => {}
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
async fn accept(listener: TcpListener, way: &Way) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve(stream, way.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, Way { server, faults }: Way) {
    let forward = service_fn(move |request| forward(server.clone(), request));
    let service = ServiceBuilder::new().layer(faults).service(forward);
    let service = TowerToHyperService::new(service);
    // An error is a connection that was cut, by the faults or by the program.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn forward(server: Client, request: Request<Incoming>) -> Result<Response<Body>, BoxError> {
    let (mut head, body) = request.into_parts();
    head.headers.remove(HOST);
    let body = body.collect().await?.to_bytes();
    Ok(server.send(Request::from_parts(head, Body::from(body))).await?)
}
