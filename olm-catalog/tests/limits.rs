//! Limits of the server: calls and streams at the same time, times, and its end while an
//! answer is being read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use olm_catalog::registry::proto::registry_client::RegistryClient;
use olm_catalog::registry::proto::{self, ListBundlesRequest, ListPackageRequest};
use olm_catalog::registry::server::{ServerOptions, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::support::TIMEOUT;

/// How many bundles the catalog has. Together they do not fit into what is sent ahead.
const BUNDLES: usize = 200;

/// Text in every bundle, in bytes.
const TEXT: usize = 100 << 10;

/// A catalog of one channel with large bundles.
fn write_catalog(folder: &Path) {
    let text = "x".repeat(TEXT);
    let mut blobs =
        "{\"schema\":\"olm.package\",\"name\":\"p\",\"defaultChannel\":\"c\"}\n".to_owned();
    let entry = |number: usize| match number {
        0 => "{\"name\":\"p.v0\"}".to_owned(),
        _ => format!("{{\"name\":\"p.v{number}\",\"replaces\":\"p.v{}\"}}", number - 1),
    };
    let entries: Vec<_> = (0..BUNDLES).map(entry).collect();
    blobs += &format!(
        "{{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{}]}}\n",
        entries.join(",")
    );
    for number in 0..BUNDLES {
        blobs += &format!(
            "{{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"p.v{number}\",\
             \"image\":\"quay.io/p/p:v{number}\",\"properties\":[{{\"type\":\"olm.package\",\
             \"value\":{{\"packageName\":\"p\",\"version\":\"{number}.0.0\"}}}},\
             {{\"type\":\"text\",\"value\":\"{text}\"}}]}}\n"
        );
    }
    std::fs::write(folder.join("p.json"), blobs).unwrap();
}

/// A server with limits of its own.
struct Limited {
    client: RegistryClient<Channel>,
    channel: Channel,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Limited {
    async fn start(options: ServerOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_catalog(folder.path());
        let index = Arc::new(Index::build(folder.path(), &ReadLimits::default(), None).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            serve(listener, index, options, stopped).await.unwrap();
        });
        let channel = Endpoint::from_shared(endpoint).unwrap().connect().await.unwrap();
        Self { client: RegistryClient::new(channel.clone()), channel, stop, task }
    }

    async fn list(&self) -> Result<tonic::Streaming<proto::Bundle>, Status> {
        Ok(self.client.clone().list_bundles(ListBundlesRequest {}).await?.into_inner())
    }

    async fn ended(self) {
        tokio::time::timeout(TIMEOUT, self.task).await.expect("in time").unwrap();
    }
}

#[tokio::test]
async fn an_answer_under_way_is_finished_before_the_end() {
    let server = Limited::start(ServerOptions { drain: TIMEOUT, ..ServerOptions::default() }).await;
    let mut listing = server.list().await.unwrap();
    assert_eq!(listing.next().await.unwrap().unwrap().csv_name, "p.v0");
    server.stop.cancel();
    let rest: Vec<_> = listing.try_collect().await.unwrap();
    assert_eq!(rest.len(), BUNDLES - 1);
    let refused = server.list().await.unwrap_err();
    assert_ne!(refused.code(), Code::Ok, "a new call is not taken");
    server.ended().await;
}

#[tokio::test]
async fn a_reader_that_has_stopped_does_not_hold_up_the_end() {
    let drain = Duration::from_millis(100);
    let server = Limited::start(ServerOptions { drain, ..ServerOptions::default() }).await;
    let mut listing = server.list().await.unwrap();
    assert!(listing.next().await.unwrap().is_ok());
    server.stop.cancel();
    server.ended().await;
    drop(listing);
}

#[tokio::test]
async fn calls_of_one_connection_wait_for_each_other() {
    let options = ServerOptions { calls_per_connection: 1, ..ServerOptions::default() };
    let server = Limited::start(options).await;
    // The client learns the limit with the first answer.
    let packages = server.client.clone().list_packages(ListPackageRequest {}).await.unwrap();
    assert_eq!(packages.into_inner().count().await, 1);
    let mut listing = server.list().await.unwrap();
    assert!(listing.next().await.unwrap().is_ok());
    let mut client = server.client.clone();
    let second = tokio::spawn(async move { client.list_packages(ListPackageRequest {}).await });
    for _ in 1..BUNDLES / 2 {
        assert!(listing.next().await.unwrap().is_ok());
        assert!(!second.is_finished());
    }
    assert_eq!(listing.count().await, BUNDLES / 2);
    tokio::time::timeout(TIMEOUT, second).await.expect("in time").unwrap().unwrap();
}

/// Without a place for calls, each waits as long as it may, and gets an error.
#[tokio::test]
async fn calls_of_all_connections_wait_for_each_other_until_their_time_is_up() {
    let call_time = Duration::from_millis(100);
    let options = ServerOptions { calls: 0, call_time, ..ServerOptions::default() };
    let server = Limited::start(options).await;
    let mut client = server.client.clone();
    let waiting = client.list_packages(ListPackageRequest {});
    let answer = tokio::time::timeout(TIMEOUT, waiting).await.expect("in time");
    let code = answer.map(drop).unwrap_err().code();
    assert!(matches!(code, Code::Cancelled | Code::DeadlineExceeded), "{code:?}");
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused_until_one_ends() {
    let server = Limited::start(ServerOptions { streams: 1, ..ServerOptions::default() }).await;
    let mut listing = server.list().await.unwrap();
    assert!(listing.next().await.unwrap().is_ok());
    let refused = server.list().await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    let one = proto::GetPackageRequest { name: "p".into() };
    assert!(server.client.clone().get_package(one).await.is_ok(), "single answers go on");
    assert_eq!(listing.count().await, BUNDLES - 1);
    assert_eq!(server.list().await.unwrap().count().await, BUNDLES);
}

#[tokio::test]
async fn a_reader_that_stops_for_too_long_is_reported() {
    let options =
        ServerOptions { streams: 1, reader_time: Duration::ZERO, ..ServerOptions::default() };
    let server = Limited::start(options).await;
    let stopped = server.list().await.unwrap();
    let ended: Result<Vec<_>, _> = stopped.try_collect().await;
    assert_eq!(ended.unwrap_err().code(), Code::DeadlineExceeded);
    assert!(server.list().await.is_ok(), "its place is free");
}

#[tokio::test]
async fn a_request_that_never_ends_is_given_up() {
    let call_time = Duration::from_millis(100);
    let server = Limited::start(ServerOptions { call_time, ..ServerOptions::default() }).await;
    let mut client = Grpc::new(server.channel.clone());
    client.ready().await.unwrap();
    let codec = ProstCodec::<proto::GetPackageRequest, proto::Package>::default();
    let path = PathAndQuery::from_static("/api.Registry/GetPackage");
    let request = Request::new(futures::stream::pending());
    let answer = client.client_streaming(request, path, codec);
    let answer = tokio::time::timeout(TIMEOUT, answer).await.expect("in time");
    let code = answer.unwrap_err().code();
    assert!(matches!(code, Code::Cancelled | Code::DeadlineExceeded), "{code:?}");
}
