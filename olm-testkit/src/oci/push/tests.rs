//! Pushes to a registry in memory that keeps to the distribution specification, or breaks it in
//! one way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::super::digest::sha256;
use super::*;

/// The beginning of request lines that are answered wrongly, and the answer.
type Fault<'a> = (&'a str, &'a str);

/// A registry without faults.
const SOUND: Fault<'_> = ("none", "");

#[derive(Debug)]
struct Request {
    method: String,
    path: String,
    media_type: String,
    body: Vec<u8>,
}

/// What a registry holds and which requests it got.
#[derive(Debug, Default)]
struct Contents {
    blobs: BTreeMap<String, Vec<u8>>,
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    log: Vec<String>,
}

/// Serves until the runtime of the test ends; returns `HOST:PORT`.
async fn registry(fault: Fault<'_>) -> (String, Arc<Mutex<Contents>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let contents = Arc::new(Mutex::new(Contents::default()));
    let shared = Arc::clone(&contents);
    let (at, wrong) = (fault.0.to_owned(), fault.1.to_owned());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let Some(request) = read(&mut stream).await else { continue };
            let answer = match format!("{} {} ", request.method, request.path).starts_with(&at) {
                true => wrong.clone(),
                false => shared.lock().unwrap().answer(request),
            };
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, contents)
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let header = |name: &str| {
        let line = head.lines().find(|line| line.to_lowercase().starts_with(name));
        line.map_or("", |line| line[name.len() + 1..].trim()).to_owned()
    };
    let length: usize = header("content-length").parse().unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        assert_ne!(stream.read_buf(&mut body).await.unwrap(), 0, "the body is too short");
    }
    let mut words = head.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    Some(Request { method, path, media_type: header("content-type"), body })
}

fn plain(status: &str, header: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n{header}\r\n")
}

impl Contents {
    fn answer(&mut self, request: Request) -> String {
        let path = request.path.strip_prefix("/v2/team/olm/").expect("a path of the repository");
        let shown = path.split_once("?").map_or(path, |(place, _)| place);
        self.log.push(format!("{} {}", request.method, shown.get(..20).unwrap_or(shown)));
        match (request.method.as_str(), path.split_once('/').unwrap()) {
            ("HEAD", ("blobs", digest)) if self.blobs.contains_key(digest) => plain("200 OK", ""),
            ("HEAD", ("blobs", _)) => plain("404 Not Found", ""),
            ("POST", ("blobs", "uploads/")) => plain(
                "202 Accepted",
                "Location: http://registry.invalid/v2/team/olm/blobs/place?state=7\r\n",
            ),
            ("PUT", ("blobs", place)) => {
                let digest = place.strip_prefix("place?state=7&digest=").unwrap();
                assert_eq!(sha256(&request.body), digest);
                self.blobs.insert(digest.to_owned(), request.body);
                plain("201 Created", "")
            }
            ("PUT", ("manifests", tag)) => {
                let header = format!("Docker-Content-Digest: {}\r\n", sha256(&request.body));
                self.manifests.insert(tag.to_owned(), (request.media_type, request.body));
                plain("201 Created", &header)
            }
            other => panic!("unexpected request {other:?}"),
        }
    }
}

fn image() -> Image {
    Image::builder().file("/a", "a", 0o644).layer().file("/b", "b", 0o644).build().unwrap()
}

#[tokio::test]
async fn blobs_go_first_and_only_once() {
    let (address, contents) = registry(SOUND).await;
    let image = image();
    let pushed = push(&image, &address, "team/olm", "1.0.0").await.unwrap();
    assert_eq!(pushed.reference, format!("{address}/team/olm:1.0.0"));
    assert_eq!(pushed.pinned(), format!("{address}/team/olm@{}", image.digest()));
    {
        let mut contents = contents.lock().unwrap();
        let (media_type, manifest) = contents.manifests.remove("1.0.0").unwrap();
        assert_eq!(media_type, "application/vnd.oci.image.manifest.v1+json");
        assert_eq!(sha256(&manifest), image.digest());
        let layers = image.layers().iter().map(|layer| layer.digest());
        for digest in layers.chain([image.config.digest.as_str()]) {
            assert!(contents.blobs.contains_key(digest), "{digest}");
        }
        assert_eq!(contents.log.len(), 10);
        contents.log.clear();
    }
    push(&image, &address, "team/olm", "latest").await.unwrap();
    let again = contents.lock().unwrap().log.clone();
    let methods: Vec<&str> = again.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(methods, ["HEAD", "HEAD", "HEAD", "PUT"]);
}

#[rstest]
#[case::login(
    ("POST", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nwho?"),
    &["401 Unauthorized to the begin of an upload", "wants a login", "who?"]
)]
#[case::another_server(
    ("POST", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    &["404 Not Found to the begin of an upload", "API version 2"]
)]
#[case::full(
    ("PUT", "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\n\r\n"),
    &["507 Insufficient Storage to a blob"]
)]
#[case::no_place(
    ("POST", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
    &["names no place for an upload"]
)]
#[case::other_digest(
    (
        "PUT /v2/team/olm/manifests/",
        "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nDocker-Content-Digest: sha256:0\r\n\r\n",
    ),
    &["stored the manifest as sha256:0 instead of sha256:"]
)]
#[case::gone(("HEAD", ""), &["HEAD http://127.0.0.1:", "/v2/team/olm/blobs/sha256:"])]
#[case::not_http(("HEAD", "+OK ready\r\n\r\n"), &["HEAD http://127.0.0.1:"])]
#[case::error_page(
    ("HEAD", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"),
    &["503 Service Unavailable to a question for a blob"]
)]
#[tokio::test]
async fn a_refusal_names_the_step_and_the_answer(#[case] fault: Fault<'_>, #[case] parts: &[&str]) {
    let (address, _) = registry(fault).await;
    let error = push(&image(), &address, "team/olm", "1").await.unwrap_err();
    let error = format!("{error:#}");
    assert!(error.starts_with(&format!("cannot push {address}/team/olm:1: ")), "{error}");
    for part in parts {
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let long = "x".repeat(99_999);
    let long = format!("HTTP/1.1 202 Accepted\r\nContent-Length: 9999999\r\n\r\n{long}");
    let (address, _) = registry(("POST", &long)).await;
    let error = format!("{:#}", push(&image(), &address, "team/olm", "1").await.unwrap_err());
    assert!(error.contains("the answer cannot be read"), "{error}");
}

#[tokio::test]
async fn a_registry_that_is_away_gets_advice() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = format!("{:#}", push(&image(), &address, "olm", "1").await.unwrap_err());
    let tried = format!("HEAD http://{address}/v2/olm/blobs/sha256:");
    assert!(error.contains(&tried) && error.contains("no registry is at"), "{error}");
    assert!(error.contains("start it") && error.contains("refused"), "{error}");
}

#[tokio::test]
async fn a_registry_is_greeted_before_a_long_build() {
    let (address, _) =
        registry(("GET /v2/ ", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")).await;
    reach(&address).await.unwrap();
    let (address, _) =
        registry(("GET /v2/ ", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")).await;
    let error = format!("{:#}", reach(&address).await.unwrap_err());
    assert!(error.starts_with(&format!("cannot push to {address}: ")), "{error}");
    assert!(error.contains("404 Not Found to a greeting; is it a registry"), "{error}");
}

#[rstest]
#[case("registry.example.com")]
#[case("8.8.8.8:5000")]
#[case("[2001:db8::1]:5000")]
#[tokio::test]
async fn nothing_goes_to_the_world_without_tls(#[case] registry: &str) {
    let error = format!("{:#}", push(&image(), registry, "olm", "1").await.unwrap_err());
    assert!(error.contains("only to loopback and private addresses"), "{error}");
    assert!(error.contains(&format!("docker://{registry}/NAME:TAG")), "{error}");
}

#[tokio::test]
async fn a_wrong_reference_is_not_tried() {
    let error = push(&image(), "127.0.0.1:1", "Olm", "1").await.unwrap_err().to_string();
    assert!(error.starts_with("\"127.0.0.1:1/Olm:1\" is not a reference"), "{error}");
}
