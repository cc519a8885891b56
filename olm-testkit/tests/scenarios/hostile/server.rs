//! A registry server that is up to no good.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context as TaskContext, Poll};

use anyhow::{Context, Result};
use futures::future::{Ready, ready};
use futures::stream::{self, BoxStream, StreamExt};
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use olm_catalog::registry::proto;
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Status};

/// Bundles of one frame. Frames of one small bundle each would be taken for an attack on the
/// connection, before any client counts bundles.
const PER_FRAME: usize = 500;

/// What it sends when its bundles are listed.
#[derive(Clone, Copy, Debug)]
pub enum Hostility {
    /// One bundle after the other, each with another name.
    Endless,
    /// A message that is shorter than it says.
    Short,
    /// A message that says that it has this many bytes.
    Long(u32),
    /// Bytes that are no message.
    Noise,
    /// One bundle with this many empty `providedApis`, of two bytes each.
    EmptyApis(usize),
    /// Bundles that skip a hundred thousand others each, which have no name.
    Skips,
    /// Bundles of 500 packages; asked for a package, fifteen thousand channels of the same name.
    Channels,
    /// The same with as many channels as are accepted of all of them together.
    Packages,
    /// Bundles with this many bytes of distinct text.
    Text(usize),
    /// As many bundles as a catalog may have, all of which provide and require the same API.
    OneApi,
    /// As many bundles, each of which refuses another API.
    Refusals,
    /// As many bundles, with lists that are there and empty.
    EmptyLists,
}

/// Such a server, until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Server {
    pub async fn start(hostility: Hostility) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let address = listener.local_addr()?;
        let server = tonic::transport::Server::builder().add_service(Registry(hostility));
        let task = tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        Ok(Self { address, task })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The service. Whatever it is asked but for its bundles, it does not know.
#[derive(Clone)]
struct Registry(Hostility);

impl NamedService for Registry {
    const NAME: &'static str = "api.Registry";
}

impl Service<http::Request<Body>> for Registry {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let unknown = Status::unimplemented("it only lists bundles");
        ready(Ok(match request.uri().path() {
            "/api.Registry/ListBundles" => answer(messages(self.0)),
            "/api.Registry/GetPackage" => answer(stream::iter([package(self.0)]).boxed()),
            _ => unknown.into_http(),
        }))
    }
}

fn answer(messages: BoxStream<'static, Vec<u8>>) -> http::Response<Body> {
    let messages = messages.map(|bytes| Frame::data(Bytes::from(bytes)));
    let mut end = http::HeaderMap::new();
    // An empty text is no bad header.
    let _ = Status::new(Code::Ok, "").add_header(&mut end);
    let frames = messages.chain(stream::iter([Frame::trailers(end)]));
    let mut response = http::Response::new(Body::new(StreamBody::new(frames.map(Ok::<_, Status>))));
    let kind = http::HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

fn messages(hostility: Hostility) -> BoxStream<'static, Vec<u8>> {
    let one = |bytes: Vec<u8>| stream::iter([bytes]).boxed();
    match hostility {
        Hostility::Endless => {
            let frames = stream::iter(0_u64..).map(bundle).chunks(PER_FRAME);
            frames.map(|bundles| bundles.concat()).boxed()
        }
        Hostility::Short => one(framed(1_000, &[0; 10])),
        Hostility::Long(length) => one(framed(length, &[0; 1_000])),
        Hostility::Noise => one(framed(1_000, &[0xff; 1_000])),
        // Field 7 with nothing in it.
        Hostility::EmptyApis(count) => one(whole(&[0x3a, 0].repeat(count))),
        Hostility::Skips => {
            endless(|number| proto::Bundle { skips: vec![String::new(); 100_000], ..named(number) })
        }
        Hostility::Channels | Hostility::Packages => {
            let in_package =
                |number| proto::Bundle { package_name: format!("p{number}"), ..named(number) };
            let bundles = (0..PACKAGES).map(in_package);
            let bundles = bundles.map(|bundle| whole(&bundle.encode_to_vec()));
            stream::iter(bundles).boxed()
        }
        Hostility::OneApi => {
            let api = r#"{"group":"g.io","version":"v1","kind":"K"}"#;
            let both = ["olm.gvk", "olm.gvk.required"].map(|kind| property(kind, api));
            most(move |_| both.to_vec())
        }
        Hostility::Refusals => most(|number| {
            let api = format!(r#"{{"gvk":{{"group":"g.io","version":"v1","kind":"K{number}"}}}}"#);
            let not = format!(r#"{{"failureMessage":"no","not":{{"constraints":[{api}]}}}}"#);
            vec![property("olm.constraint", &not)]
        }),
        Hostility::EmptyLists => most(|_| vec![proto::Property::default(); 20]),
        Hostility::Text(bytes) => {
            let text = |number: u64| proto::Property {
                r#type: "text".to_owned(),
                value: format!("{number}{}", "x".repeat(TEXT)),
            };
            let with_text =
                move |number| proto::Bundle { properties: vec![text(number)], ..named(number) };
            let count = u64::try_from(bytes / TEXT).unwrap_or(u64::MAX);
            let bundles = (0..count).map(with_text).map(|bundle| whole(&bundle.encode_to_vec()));
            stream::iter(bundles).boxed()
        }
    }
}

/// As many bundles as a catalog may have entries, in one channel.
fn most(
    properties: impl Fn(u64) -> Vec<proto::Property> + Send + 'static,
) -> BoxStream<'static, Vec<u8>> {
    let bundle = move |number: u64| {
        let replaces = number.checked_sub(1).map(|before| format!("a.v{before}"));
        let bundle = proto::Bundle {
            version: format!("0.0.{number}"),
            replaces: replaces.unwrap_or_default(),
            properties: properties(number),
            ..named(number)
        };
        whole(&bundle.encode_to_vec())
    };
    let frames = stream::iter(0..ENTRIES).map(bundle).chunks(PER_FRAME);
    frames.map(|bundles| bundles.concat()).boxed()
}

/// Most channel entries of a catalog.
const ENTRIES: u64 = 65_536;

/// Packages of a catalog that has many.
const PACKAGES: u64 = 500;

/// Channels of one package that are accepted of [`PACKAGES`]: each takes 218 bytes of 1 GiB.
const CHANNELS: usize = 9_500;

fn property(kind: &str, value: &str) -> proto::Property {
    proto::Property { r#type: kind.to_owned(), value: value.to_owned() }
}

/// Bytes of the text of one bundle.
const TEXT: usize = 64 << 10;

/// The answer about any package.
fn package(hostility: Hostility) -> Vec<u8> {
    let channel = proto::Channel { name: "stable".to_owned(), ..proto::Channel::default() };
    let count = match hostility {
        Hostility::Channels => 15_000,
        Hostility::Packages => CHANNELS,
        _ => 1,
    };
    let package = proto::Package { channels: vec![channel; count], ..proto::Package::default() };
    whole(&package.encode_to_vec())
}

fn endless(bundle: impl Fn(u64) -> proto::Bundle + Send + 'static) -> BoxStream<'static, Vec<u8>> {
    stream::iter(0_u64..).map(move |number| whole(&bundle(number).encode_to_vec())).boxed()
}

fn bundle(number: u64) -> Vec<u8> {
    whole(&named(number).encode_to_vec())
}

fn named(number: u64) -> proto::Bundle {
    proto::Bundle {
        csv_name: format!("a.v{number}"),
        package_name: "a".to_owned(),
        channel_name: "stable".to_owned(),
        ..proto::Bundle::default()
    }
}

/// A message behind its length.
fn whole(bytes: &[u8]) -> Vec<u8> {
    framed(u32::try_from(bytes.len()).unwrap_or(u32::MAX), bytes)
}

/// A message behind a length, whether that is its own or not.
fn framed(length: u32, bytes: &[u8]) -> Vec<u8> {
    [&[0][..], &length.to_be_bytes(), bytes].concat()
}
