//! Runs a server until it is told to stop.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_health::pb::health_server::HealthServer;

use super::health::AlwaysServing;
use super::service::RegistryService;
use crate::index::Index;
use crate::registry::proto::experimental_registry_server::ExperimentalRegistryServer;
use crate::registry::proto::registry_server::RegistryServer;

/// How a server behaves. [`Default`] is right for production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// How long calls may go on after the server was told to stop.
    pub drain: Duration,
    /// Calls of one connection that are answered at the same time.
    pub calls_per_connection: usize,
    /// Time between pings by which vanished clients are found.
    pub keepalive: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(10),
            calls_per_connection: 64,
            keepalive: Duration::from_secs(60),
        }
    }
}

/// The server ended with an error.
#[derive(Debug, Error)]
#[error("the registry server failed")]
pub struct ServeError(#[from] tonic::transport::Error);

/// Serves on `listener` until `stop` resolves; then takes no new calls, finishes those under way
/// within [`ServerOptions::drain`], and returns.
///
/// # Errors
/// The transport fails.
pub async fn serve(
    listener: TcpListener,
    index: Arc<Index>,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let service = RegistryService { index };
    let stopping = CancellationToken::new();
    let server = Server::builder()
        .concurrency_limit_per_connection(options.calls_per_connection)
        .http2_keepalive_interval(Some(options.keepalive))
        .add_service(HealthServer::new(AlwaysServing))
        .add_service(RegistryServer::new(service.clone()))
        .add_service(ExperimentalRegistryServer::new(service))
        .serve_with_incoming_shutdown(
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            stopping.clone().cancelled_owned(),
        );
    let drained = async {
        stop.await;
        stopping.cancel();
        tokio::time::sleep(options.drain).await;
    };
    tokio::select! {
        served = server => Ok(served?),
        () = drained => {
            tracing::warn!("calls still under way are cut off");
            Ok(())
        }
    }
}
