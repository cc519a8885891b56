//! Watches that share connections. A connection has buffers and TLS of its own: a watch that is a stream of HTTP/2 takes
//! 25 KB less (`cargo xtask bench console`), and the console has hundreds of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::Config;
use kube::client::{Body, ConfigExt, RustlsTlsError};
use tower::{Service, service_fn};

use crate::{Connector, HttpClient, READ_AT_ONCE, plain, with_time_limits};

/// Among which the watches of one client are spread. An API server allows 1,000 streams in a connection, a proxy before
/// it often 100 only; what is above that waits in silence, and the console has up to 300 watches.
const CONNECTIONS: usize = 4;

/// How long a connection may be without a new watch: longer than any watch lasts, as the next watches need it.
const REST: Duration = Duration::from_mins(6);

/// Most bytes of one watch that are on their way, and of all watches of a connection.
const WINDOWS: (u32, u32) = (64 * 1024, 1024 * 1024);

/// A connection whose other side is silent is asked after the first, and given up after the second: else all of its
/// watches would wait for what never comes.
const SIGN_OF_LIFE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));

/// What sends watches over connections that they share, and all else with the client that is given.
///
/// # Errors
/// The certificates of the configuration cannot be used.
pub(crate) fn clients(
    config: &Config,
    other: HttpClient,
) -> Result<
    impl Service<Request<Body>, Response = Response<Incoming>, Error = Error, Future: Send>
    + Clone
    + Send
    + use<>,
    kube::Error,
> {
    let connector = with_time_limits(config, connector(config)?);
    let watches = (0..CONNECTIONS).map(|_| client(connector.clone())).collect();
    let clients = Arc::new(Clients { other, watches, next: AtomicUsize::new(0) });
    Ok(service_fn(move |request| clients.send(request)))
}

struct Clients {
    other: HttpClient,
    watches: Vec<HttpClient>,
    next: AtomicUsize,
}

impl Clients {
    fn send(&self, request: Request<Body>) -> ResponseFuture {
        let client = if is_watch(request.uri()) { self.next() } else { &self.other };
        client.request(request)
    }

    fn next(&self) -> &HttpClient {
        &self.watches[self.next.fetch_add(1, Ordering::Relaxed) % CONNECTIONS]
    }
}

/// What `kube` asks for a watch, and `kubectl` as well.
fn is_watch(uri: &Uri) -> bool {
    let parameters = uri.query().unwrap_or_default().split('&');
    parameters.into_iter().any(|parameter| matches!(parameter, "watch=true" | "watch=1"))
}

/// As kube's, but HTTP/2 where the server has it.
fn connector(config: &Config) -> Result<HttpsConnector<HttpConnector>, kube::Error> {
    let tls = config.rustls_client_config()?;
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = config.tls_server_name.clone() {
        let name = name.try_into().map_err(RustlsTlsError::InvalidServerName);
        let name = name.map_err(kube::Error::RustlsTls)?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    Ok(builder.enable_all_versions().wrap_connector(plain()))
}

fn client(connector: Connector) -> HttpClient {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new()).pool_idle_timeout(REST);
    builder.http1_max_buf_size(READ_AT_ONCE);
    let (interval, patience) = SIGN_OF_LIFE;
    builder.http2_keep_alive_interval(interval).http2_keep_alive_timeout(patience);
    let (of_a_watch, of_all) = WINDOWS;
    builder.http2_initial_stream_window_size(of_a_watch);
    builder.http2_initial_connection_window_size(of_all);
    builder.build(connector)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::sync::Mutex;

    use http::Version;
    use http_body_util::Empty;
    use hyper::body::Bytes;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use hyper_util::server::conn::auto;
    use rcgen::CertifiedKey;
    use rstest::rstest;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tower::ServiceExt;

    use super::*;

    /// Requests by connection, and the version of each.
    type Received = Arc<Mutex<BTreeMap<u16, Vec<Version>>>>;

    /// A server that has some versions of HTTP, and what it receives. Its answers have an end, so that connections may
    /// be used again.
    async fn server(versions: &[&str]) -> (Config, Received) {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut tls = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], signing_key.into())
            .unwrap();
        tls.alpn_protocols = versions.iter().map(|version| version.as_bytes().to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Received::default();
        tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(tls)), Arc::clone(&received)));
        let mut config = Config::new(format!("https://localhost:{port}").parse().unwrap());
        config.root_cert = Some(vec![cert.der().to_vec()]);
        (config, received)
    }

    async fn serve(listener: TcpListener, acceptor: TlsAcceptor, received: Received) {
        while let Ok((stream, address)) = listener.accept().await {
            let (acceptor, received) = (acceptor.clone(), Arc::clone(&received));
            let service = service_fn(move |request: Request<Incoming>| {
                let mut received = received.lock().unwrap();
                received.entry(address.port()).or_default().push(request.version());
                async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) }
            });
            tokio::spawn(async move {
                let stream = TokioIo::new(acceptor.accept(stream).await.unwrap());
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(stream, service).await;
            });
        }
    }

    async fn send(config: &Config, paths: &[&str]) {
        let mut transport = crate::connect_sharing(config).unwrap();
        for path in paths {
            let request = Request::get(*path).body(Body::empty()).unwrap();
            let answer = transport.ready().await.unwrap().call(request).await.unwrap();
            assert_eq!(answer.status(), 200);
        }
    }

    const WATCH: &str = "/api/v1/pods?limit=5&watch=true";

    #[tokio::test]
    async fn watches_share_connections_where_the_server_has_http2() {
        let (config, received) = server(&["h2", "http/1.1"]).await;
        send(&config, &[WATCH; 20]).await;
        let received = received.lock().unwrap();
        let expected = vec![vec![Version::HTTP_2; 20 / CONNECTIONS]; CONNECTIONS];
        assert_eq!(received.values().cloned().collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case::without_http2(&["http/1.1"], WATCH)]
    #[case::without_any(&[], WATCH)]
    #[case::no_watch(&["h2", "http/1.1"], "/api/v1/pods?watch=false")]
    #[tokio::test]
    async fn all_else_is_as_before(#[case] versions: &[&str], #[case] path: &str) {
        let (config, received) = server(versions).await;
        send(&config, &[path]).await;
        let received = received.lock().unwrap();
        assert_eq!(received.values().cloned().collect::<Vec<_>>(), [[Version::HTTP_11]]);
    }
}
