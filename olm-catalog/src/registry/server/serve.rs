//! Runs a server until it is asked to stop.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, stream};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpIncoming};
use tonic::{Request, Response, Status, async_trait};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::layer::layer_fn;
use tower::limit::{ConcurrencyLimit, GlobalConcurrencyLimitLayer};
use tower::{ServiceExt, service_fn};

use super::Source;
use super::calls::Calls;
use super::streams::Streams;
use crate::registry::proto::experimental_registry_server::ExperimentalRegistryServer;
use crate::registry::{CONTENT_SERVICE, DESCRIPTORS};

/// How a server behaves. [`Default`] is right for production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// How long calls may go on after the server was asked to stop.
    pub drain: Duration,
    /// Calls of one connection that are answered at the same time; more wait.
    pub calls_per_connection: u32,
    /// Calls of all connections that are being worked on at the same time; more wait.
    pub calls: usize,
    /// How long a call may take until its answer begins.
    pub call_time: Duration,
    /// Answers of several messages that are being read at the same time; more are refused.
    pub streams: usize,
    /// How long the reader of such an answer may stop before it loses its place.
    pub reader_time: Duration,
    /// Largest request, in bytes.
    pub request_bytes: usize,
    /// Time between pings by which vanished clients are found.
    pub keepalive: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(10),
            calls_per_connection: 64,
            calls: 1024,
            call_time: Duration::from_secs(30),
            streams: 1024,
            // A large message over a slow line takes its time, too.
            reader_time: Duration::from_secs(120),
            request_bytes: 64 << 10,
            keepalive: Duration::from_secs(60),
        }
    }
}

/// The server ended with an error.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The transport fails.
    #[error("the registry server failed: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// The description of the services is not one.
    #[error("the services cannot be described: {0}")]
    Description(#[from] tonic_reflection::server::Error),
}

/// Reports to clients which services and messages there are.
fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

/// Serves on `listener` until `stop` resolves; then takes no new calls, finishes those under way
/// within [`ServerOptions::drain`], and returns.
///
/// # Errors
/// The transport fails.
pub async fn serve(
    listener: TcpListener,
    source: Arc<dyn Source>,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let accepted = TcpIncoming::from(listener).with_nodelay(Some(true));
    serve_on(accepted, Shown { source, content: None }, options, stop).await
}

/// What is served.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) source: Arc<dyn Source>,
    /// By what name clients may ask whether it is this, if it has one.
    pub(super) content: Option<Arc<str>>,
}

/// The same on connections that are accepted elsewhere.
pub(super) async fn serve_on<C>(
    accepted: impl Stream<Item = io::Result<C>>,
    shown: Shown,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let stopping = CancellationToken::new();
    let server = Server::builder()
        .max_concurrent_streams(options.calls_per_connection)
        // A call waits inside of its own time, not before it begins.
        .layer(layer_fn(|calls: ConcurrencyLimit<Routes>| {
            service_fn(move |asked: http::Request<Body>| calls.clone().oneshot(asked))
        }))
        .layer(GlobalConcurrencyLimitLayer::new(options.calls))
        .timeout(options.call_time)
        .http2_keepalive_interval(Some(options.keepalive))
        .add_routes(routes(shown, &options)?)
        .serve_with_incoming_shutdown(accepted, stopping.clone().cancelled_owned());
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

/// Everything that is served: the registry, its experimental calls, health, and reflection.
fn routes(shown: Shown, options: &ServerOptions) -> Result<Routes, ServeError> {
    let Shown { source, content } = shown;
    let streams = Streams::new(options.streams, options.reader_time);
    let request_bytes = options.request_bytes;
    let registry = Calls { source, streams, buffers: Arc::default(), request_bytes };
    let experimental =
        ExperimentalRegistryServer::new(registry.clone()).max_decoding_message_size(request_bytes);
    let health = HealthServer::new(ContentHealth(content)).max_decoding_message_size(request_bytes);
    Ok(Routes::new(health)
        .add_service(registry)
        .add_service(experimental)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?))
}

/// Says SERVING for every name, as probes ask about "" and OLM about "Registry"; but about content
/// (`CONTENT_SERVICE`) only for that which is served.
#[derive(Clone, Debug)]
struct ContentHealth(Option<Arc<str>>);

impl ContentHealth {
    fn of(&self, service: &str) -> ServingStatus {
        match service.strip_prefix(CONTENT_SERVICE) {
            Some(content) if self.0.as_deref() != Some(content) => ServingStatus::NotServing,
            _ => ServingStatus::Serving,
        }
    }
}

#[async_trait]
impl Health for ContentHealth {
    type WatchStream = stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let status = self.of(&request.into_inner().service);
        Ok(Response::new(HealthCheckResponse { status: status.into() }))
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("health is not watched: ask with Check"))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_probe(Some("a"), "", true)]
    #[case::olm(Some("a"), "Registry", true)]
    #[case::this_content(Some("a"), "content.olm-rs.dev/a", true)]
    #[case::other_content(Some("a"), "content.olm-rs.dev/b", false)]
    #[case::no_name(None, "content.olm-rs.dev/", false)]
    #[case::a_server_in_a_pod(None, "Registry", true)]
    fn healths(#[case] content: Option<&str>, #[case] service: &str, #[case] serves: bool) {
        let health = ContentHealth(content.map(Arc::from)).of(service);
        assert_eq!(health == ServingStatus::Serving, serves);
    }
}
