//! Callers over real connections: silent ones beside the front proxy, and unknown ones.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use rstest::rstest;
use rustls::ALL_VERSIONS;
use rustls::crypto::aws_lc_rs::default_provider;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

use super::serve::tests::Nothing;
use super::{AggregatedApi, query};
use crate::admin::tests::tls::{RIGHTS, client, connector, localhost};
use crate::callers::Authorities;
use crate::certificates::tests::for_localhost;
use crate::scripted::Script;
use crate::tasks::Tasks;

/// What the API server waits for at most before it calls an aggregated API unavailable.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Connections of one Pod.
const SILENT: usize = 500;

/// A client's certificate and key.
type ClientIdentity = (String, String);

/// An API that knows a front proxy.
struct Served {
    address: SocketAddr,
    trusted: String,
    front_proxy: ClientIdentity,
    tasks: Tasks,
}

impl Served {
    async fn start(script: &Script) -> Self {
        let tasks = Tasks::new(CancellationToken::new());
        let api = AggregatedApi::new(Arc::new(Nothing(query::tests::kind())), script.client());
        let (identity, shared) = (api.identity(), api.authorities());
        let (certificate, key, authority) = client("front-proxy-client");
        let said = [("requestheader-client-ca-file", authority)];
        let said = said.map(|(name, text)| (name.to_owned(), text));
        let authorities = Authorities::parse(BTreeMap::from(said)).unwrap();
        shared.store(Arc::new(authorities.clone()));
        let (issued, trusted) = for_localhost();
        identity.set(issued.certificate.as_bytes(), issued.key.as_bytes(), &authorities).unwrap();
        let address = api.serve("127.0.0.1:0", &tasks).await.unwrap();
        Self { address, trusted, front_proxy: (certificate, key), tasks }
    }

    /// A connection whose handshake is done.
    async fn connect(&self, own: Option<&ClientIdentity>, from: &str) -> TlsStream<TcpStream> {
        let own = own.map(|(certificate, key)| (certificate.as_str(), key.as_str()));
        let connector = connector(&self.trusted, own, default_provider(), ALL_VERSIONS);
        let stream = self.silent(from).await;
        connector.connect(localhost(), stream).await.unwrap()
    }

    /// A connection that says nothing.
    async fn silent(&self, from: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// The front proxy asks over a new connection.
    async fn passes_on(&self, path: &str) -> u16 {
        let asked =
            async { ask(&mut self.connect(Some(&self.front_proxy), API).await, path).await };
        timeout(TIMEOUT, asked).await.expect("the front proxy has no answer")
    }
}

/// Addresses of the API server, and of a user's Pod.
const API: &str = "127.0.0.1";
const POD: &str = "127.0.0.2";

/// The status code of an answer.
async fn ask(stream: &mut TlsStream<TcpStream>, path: &str) -> u16 {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: alice\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 512];
    let read = stream.read(&mut answer).await.unwrap();
    let line = std::str::from_utf8(&answer[..read]).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Whether the server ends a connection soon.
async fn is_closed(stream: &mut TlsStream<TcpStream>) -> bool {
    // A connection that ends without a farewell is an error.
    timeout(TIMEOUT, stream.read(&mut [0; 1])).await.is_ok_and(|read| !matches!(read, Ok(1..)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_keep_no_caller_out() {
    let served = Served::start(&Script::new()).await;
    let mut pooled = served.connect(Some(&served.front_proxy), API).await;
    assert_eq!(ask(&mut pooled, "/healthz").await, 200);
    for _ in 0..3 {
        let silent: Vec<_> = join_all((0..SILENT).map(|_| served.silent(POD))).await;
        assert_eq!(served.passes_on("/healthz").await, 200);
        assert_eq!(ask(&mut pooled, "/healthz").await, 200, "it was not counted");
        drop(silent);
    }
    served.tasks.token().cancel();
    assert_eq!(served.tasks.wait().await, Ok(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_idle_caller_goes_when_there_are_too_many_and_never_the_front_proxy() {
    let served = Served::start(&Script::new()).await;
    let mut pooled = served.connect(Some(&served.front_proxy), API).await;
    let mut first = served.connect(None, POD).await;
    assert_eq!(ask(&mut first, "/healthz").await, 200);
    let others = join_all((0..SILENT / 2 + 10).map(|_| served.connect(None, POD))).await;
    assert!(is_closed(&mut first).await, "the oldest stays");
    assert_eq!(ask(&mut pooled, "/healthz").await, 200);
    assert_eq!(served.passes_on("/healthz").await, 200);
    drop(others);
}

/// However many paths they make up, nothing is asked of the API server (the script answers nothing).
#[rstest]
#[case::nowhere("/nowhere")]
#[case::no_kind("/apis/g.io/v1/nothings")]
#[case::other_version("/apis/g.io/v7")]
#[tokio::test]
async fn unknown_callers_of_unknown_paths_cost_nothing(#[case] path: &str) {
    let script = Script::new();
    let served = Served::start(&script).await;
    let mut caller = served.connect(None, POD).await;
    for number in 0..10 {
        assert_eq!(ask(&mut caller, &format!("{path}/{number}")).await, 401);
    }
    let long = format!("/apis/g.io/v1/namespaces/a/things/{}", "b".repeat(254));
    assert_eq!(ask(&mut caller, &long).await, 401);
    assert!(script.requests().is_empty(), "{:?}", script.requests());
}

#[tokio::test]
async fn known_callers_of_unknown_paths_and_unknown_ones_of_objects_are_asked_about() {
    let right = |allowed: bool| json!({"spec": {}, "status": {"allowed": allowed}});
    let script = Script::new().answer(RIGHTS, 201, right(true)).answer(RIGHTS, 201, right(false));
    let served = Served::start(&script).await;
    assert_eq!(served.passes_on("/nowhere").await, 404);
    let mut caller = served.connect(None, POD).await;
    assert_eq!(ask(&mut caller, "/apis/g.io/v1/things").await, 403);
    let asked = script.finish();
    assert_eq!(asked[0].body["spec"]["user"], "alice");
    assert_eq!(asked[1].body["spec"]["user"], "system:anonymous");
}
