//! Over loopback, with a hand-written client.

mod silence;
pub(crate) mod tls;

use axum::http::header::AUTHORIZATION;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::scripted::Script;

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn endpoints_report_how_the_process_is() {
    let tasks = Tasks::new(CancellationToken::new());
    let gate = tasks.readiness().gate("watch Pod");
    let admin = Admin::new(Metrics::new().unwrap()).state("catalogs", || json!({"a/b": "READY"}));
    let address = admin.serve("127.0.0.1:0", &tasks).await.unwrap();

    assert_eq!(get(address, "/healthz").await, (200, "ok".to_owned()));
    assert_eq!(get(address, "/readyz").await, (503, "waiting for: watch Pod\n".to_owned()));
    gate.open();
    assert_eq!(get(address, "/readyz").await.0, 200);
    assert_eq!(get(address, "/ready").await.0, 200);
    let (code, text) = get(address, "/metrics").await;
    assert!(code == 200 && text.contains("process_resident_memory_bytes"), "{text}");
    let (code, text) = get(address, "/debug/state").await;
    let reported: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &reported["catalogs"]), (200, &json!({"a/b": "READY"})));
    assert_eq!(get(address, "/other").await.0, 404);

    tasks.token().cancel();
    assert_eq!(tasks.wait().await, Ok(()));
}

#[tokio::test]
async fn a_taken_address_is_named() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let tasks = Tasks::new(CancellationToken::new());
    let admin = Admin::new(Metrics::new().unwrap());
    let error = admin.serve(&address, &tasks).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}"));
}

/// What a caller who is not on the same host gets.
async fn from_afar(guard: Guard, headers: HeaderMap) -> StatusCode {
    let tasks = Tasks::new(CancellationToken::new());
    let admin = Admin::new(Metrics::new().unwrap());
    let shared = Shared { admin, readiness: tasks.readiness().clone(), guard };
    let address = "192.0.2.1:99".parse().unwrap();
    let caller = ConnectInfo(Caller { address, chain: Arc::default() });
    state(State(Arc::new(shared)), caller, headers).await.status()
}

#[tokio::test]
async fn without_tls_the_state_is_for_the_same_host_only() {
    assert_eq!(from_afar(Guard::Open, HeaderMap::new()).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn with_tls_the_state_is_for_those_who_may_get_it() {
    let known = json!({"authenticated": true, "user": {"username": "support"}});
    let right = |allowed: bool| json!({"spec": {}, "status": {"allowed": allowed}});
    for (allowed, code) in [(true, StatusCode::OK), (false, StatusCode::FORBIDDEN)] {
        let script = Script::new()
            .answer(tls::REVIEW, 201, json!({"spec": {}, "status": known}))
            .answer(tls::RIGHTS, 201, right(allowed));
        let guard = Guard::asking(Arc::default(), script.client());
        let headers = HeaderMap::from_iter([(AUTHORIZATION, "Bearer t".parse().unwrap())]);
        assert_eq!(from_afar(guard, headers).await, code);
        let asked = script.finish();
        assert_eq!(asked[1].body["spec"]["nonResourceAttributes"]["path"], "/debug/state");
    }
    let guard = Guard::asking(Arc::default(), Script::new().client());
    assert_eq!(from_afar(guard, HeaderMap::new()).await, StatusCode::UNAUTHORIZED);
}
