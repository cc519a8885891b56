//! Connections to the API server: kube's stack with buffers and pauses of our own, for the operators' clients and
//! those of users.
//!
//! Each watch has a connection for as long as it lasts, and a burst of writes opens many more. What a
//! connection read in one piece stays with it as a buffer of that size, so pieces are small, and a
//! connection that is not used is closed long before the API server would do so.

use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
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

/// Connections as the configuration says. None is opened yet.
///
/// # Errors
/// The configuration names a proxy, or its certificates or credentials cannot be used.
pub fn connect(config: &Config) -> Result<Transport, kube::Error> {
    if let Some(proxy) = &config.proxy_url {
        return Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy.clone()) });
    }
    let stack = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(decompression(config))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from);
    Ok(stack.service(client(config)?).boxed())
}

fn decompression(config: &Config) -> DecompressionLayer {
    DecompressionLayer::new().no_br().no_deflate().no_zstd().gzip(!config.disable_compression)
}

fn client(
    config: &Config,
) -> Result<
    impl Service<Request<Body>, Response = Response<Incoming>, Error = Error, Future: Send>
    + Clone
    + Send
    + use<>,
    kube::Error,
> {
    let mut plain = HttpConnector::new();
    plain.enforce_http(false);
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(plain)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(REST);
    Ok(builder.http1_max_buf_size(READ_AT_ONCE).build(connector))
}
