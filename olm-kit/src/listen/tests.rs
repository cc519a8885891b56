//! Over real connections: what is silent or slow goes, and what panics is contained.

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::*;
use crate::certificates::tests::for_localhost;

/// How long a test waits for what should happen soon.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What serves `/`, `/slow`, which never answers, and `/broken`, which panics.
async fn serving(limits: Limits, tls: Option<Tls>, tasks: &Tasks) -> SocketAddr {
    let server = Server::bind("127.0.0.1:0", tls).await.unwrap().limits(limits);
    let address = server.address();
    let router = Router::new()
        .route("/", get(async || "ok"))
        .route("/slow", get(async || std::future::pending::<String>().await))
        .route("/broken", get(broken));
    server.serve("server", router, tasks);
    address
}

async fn broken() -> &'static str {
    panic!("no entry 7")
}

fn tasks() -> Tasks {
    Tasks::new(CancellationToken::new())
}

/// A connection that sent something.
async fn sent(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// All that comes until the server ends the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let ended = timeout(TIMEOUT, stream.read_to_end(&mut text)).await;
    // Whoever is closed while it sends gets a reset.
    let _ = ended.expect("the connection stays open");
    String::from_utf8(text).unwrap()
}

async fn answers(address: SocketAddr) -> bool {
    let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    rest(sent(address, request).await).await.ends_with("ok")
}

fn quick() -> Limits {
    let soon = Duration::from_millis(100);
    Limits { handshake: soon, headers: soon, ..Limits::default() }
}

#[tokio::test]
async fn headers_that_do_not_come_end_a_connection() {
    let tasks = tasks();
    let address = serving(quick(), None, &tasks).await;
    for begun in ["", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX-A: b"] {
        assert_eq!(rest(sent(address, begun).await).await, "", "{begun:?}");
    }
    let once = rest(sent(address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await).await;
    assert!(once.ends_with("ok"), "a second request does not come: {once}");
    assert!(answers(address).await);
}

#[tokio::test]
async fn a_handshake_that_does_not_come_ends_a_connection() {
    let (tasks, (issued, _)) = (tasks(), for_localhost());
    let tls = Tls { identity: ServingIdentity::default(), authorities: Arc::default() };
    let (certificate, key) = (issued.certificate.as_bytes(), issued.key.as_bytes());
    tls.identity.set(certificate, key, &tls.authorities.load()).unwrap();
    let address = serving(quick(), Some(tls), &tasks).await;
    // The second is the begin of a record that never ends.
    for begun in ["", "\u{16}\u{3}\u{1}\u{0}\u{7f}"] {
        assert_eq!(rest(sent(address, begun).await).await, "");
    }
}

#[tokio::test]
async fn a_probe_is_answered_while_all_places_are_taken_by_the_silent_and_the_slow() {
    let tasks = tasks();
    let limits = Limits { callers: 20, headers: TIMEOUT * 10, ..Limits::default() };
    let address = serving(limits, None, &tasks).await;
    let mut taken = Vec::new();
    for number in 0..50 {
        let text = if number % 2 == 0 { "" } else { "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" };
        taken.push(sent(address, text).await);
    }
    for _ in 0..5 {
        assert!(timeout(TIMEOUT, answers(address)).await.unwrap());
    }
    assert_eq!(rest(taken.remove(0)).await, "", "the oldest went");
}

#[tokio::test]
async fn a_handler_that_panics_ends_its_connection_and_not_the_process() {
    let tasks = tasks();
    let address = serving(Limits::default(), None, &tasks).await;
    assert_eq!(rest(sent(address, "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n").await).await, "");
    assert!(answers(address).await);
    tasks.token().cancel();
    assert_eq!(tasks.wait().await, Ok(()));
}

#[tokio::test]
async fn idle_connections_end_with_the_server() {
    let tasks = tasks();
    let address = serving(Limits::default(), None, &tasks).await;
    let idle = sent(address, "").await;
    assert!(answers(address).await);
    tasks.token().cancel();
    assert_eq!(timeout(TIMEOUT, tasks.wait()).await.unwrap(), Ok(()));
    assert_eq!(rest(idle).await, "");
}
