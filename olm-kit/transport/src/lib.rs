//! Connections to the API server: kube's stack with buffers and pauses of our own, for the operators' clients and
//! those of users.
//!
//! A burst of writes opens many connections, and a watch has one for as long as it lasts. What a
//! connection read in one piece stays with it as a buffer of that size, so pieces are small, and a
//! connection that is not used is closed long before the API server would do so. Where there are watches by
//! the hundred, they share a few connections: see [`connect_sharing`].

mod shared;

use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::Config;
use kube::client::{Body, ConfigExt};
use tower::util::BoxService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};
use tower_http::decompression::{DecompressionBody, DecompressionLayer};

/// How long a connection may rest. A new one takes a handshake, which is little beside ten seconds of rest.
const REST: Duration = Duration::from_secs(10);

/// Most bytes that are read at once; a TLS record has no more. Heads of answers have to fit in as well.
const READ_AT_ONCE: usize = 16 * 1024;

/// What sends requests, with the credentials of a configuration.
pub type Transport = BoxService<Request<Body>, Response<Received>, BoxError>;

/// The body of an answer, decompressed.
pub type Received = DecompressionBody<Incoming>;

type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;

type HttpClient = Client<Connector, Body>;

/// Connections as the configuration says, one for each request at a time. None is opened yet.
///
/// # Errors
/// The configuration names a proxy, or its certificates or credentials cannot be used.
pub fn connect(config: &Config) -> Result<Transport, kube::Error> {
    stack(config, client(config)?)
}

/// Connections as [`connect`] has them, but for watches: those share a few, where the server speaks HTTP/2. None is
/// opened yet.
///
/// # Errors
/// As for [`connect`].
pub fn connect_sharing(config: &Config) -> Result<Transport, kube::Error> {
    stack(config, shared::clients(config, client(config)?)?)
}

/// What a request passes on its way to a client: its address, decompression and credentials.
fn stack<S>(config: &Config, client: S) -> Result<Transport, kube::Error>
where
    S: Service<Request<Body>, Response = Response<Incoming>, Error = Error, Future: Send>
        + Clone
        + Send
        + 'static,
{
    if let Some(proxy) = &config.proxy_url {
        return Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy.clone()) });
    }
    let stack = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(decompression(config))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from);
    Ok(stack.service(client).boxed())
}

fn decompression(config: &Config) -> DecompressionLayer {
    DecompressionLayer::new().no_br().no_deflate().no_zstd().gzip(!config.disable_compression)
}

fn client(config: &Config) -> Result<HttpClient, kube::Error> {
    let connector = config.rustls_https_connector_with_connector(plain())?;
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(REST);
    builder.http1_max_buf_size(READ_AT_ONCE);
    Ok(builder.build(with_time_limits(config, connector)))
}

/// Opens connections for TLS as well.
fn plain() -> HttpConnector {
    let mut plain = HttpConnector::new();
    plain.enforce_http(false);
    plain
}

fn with_time_limits(config: &Config, connector: HttpsConnector<HttpConnector>) -> Connector {
    let mut connector = TimeoutConnector::new(connector);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    connector
}
