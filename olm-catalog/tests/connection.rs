//! The connection of a client through the life of its server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use async_trait::async_trait;
use olm_catalog::connection::ConnectionState::{Ready, Shutdown, TransientFailure};
use olm_catalog::connection::{CatalogConnection, LoadError};
use olm_catalog::registry::client::{Address, ClientOptions, RegistryClient, Resolve};
use olm_types::bundle::CatalogKey;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;

use crate::support::{ReservedAddress, Server, catalog_folder, client, reach, reach_on};

#[tokio::test]
async fn becomes_ready() {
    let server = Server::start("etcd").await;
    let status = reach(&server.client(), Ready).await;
    assert_eq!((status.generation, status.reason), (1, None));
}

#[tokio::test]
async fn nothing_listens() {
    let place = ReservedAddress::reserve();
    let address = place.address;
    let client = client(address);
    let status = reach(&client, TransientFailure).await;
    let reason = status.reason.unwrap();
    assert!(reason.starts_with("rpc error: code = Unavailable desc = "), "{reason}");
    assert!(reason.contains(&format!("dial tcp {address}: ")), "{reason}");
    let error = client.load().await.unwrap_err();
    assert!(matches!(error, LoadError::List(_)), "{error}");
}

/// v0 does not look at the answer.
#[tokio::test]
async fn a_server_that_does_not_serve_is_no_good() {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status("Registry", ServingStatus::NotServing).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client(listener.local_addr().unwrap());
    let server = tonic::transport::Server::builder()
        .add_service(health)
        .serve_with_incoming(TcpIncoming::from(listener));
    let server = tokio::spawn(server);
    let reason = reach(&client, TransientFailure).await.reason.unwrap();
    assert_eq!(&*reason, "the server says NOT_SERVING");
    reporter.set_service_status("Registry", ServingStatus::Serving).await;
    reach(&client, Ready).await;
    server.abort();
}

#[tokio::test]
async fn the_server_appears_later() {
    let place = ReservedAddress::reserve();
    let client = client(place.address);
    reach(&client, TransientFailure).await;
    let _server = Server::serve(&catalog_folder("etcd"), place.address).await;
    reach(&client, Ready).await;
}

#[rstest::rstest]
#[tokio::test]
async fn the_server_ends_and_returns(#[values(true, false)] gracefully: bool) {
    let place = ReservedAddress::reserve();
    let server = Server::serve(&catalog_folder("etcd"), place.address).await;
    let client = server.client();
    reach(&client, Ready).await;
    if gracefully {
        server.stop().await;
    } else {
        server.crash().await;
    }
    let lost = reach(&client, TransientFailure).await;
    assert_eq!(lost.generation, 1);
    let _server = Server::serve(&catalog_folder("etcd"), place.address).await;
    assert_eq!(reach(&client, Ready).await.generation, 2);
    assert_eq!(client.load().await.unwrap().entries().len(), 8);
}

#[tokio::test]
async fn a_server_replaced_behind_the_address_is_noticed() {
    let place = ReservedAddress::reserve();
    let server = Server::serve(&catalog_folder("etcd"), place.address).await;
    let client = server.client();
    let mut statuses = client.status();
    reach_on(&mut statuses, |status| status.state == Ready).await;
    server.crash().await;
    let _other = Server::serve(&catalog_folder("other"), place.address).await;
    let replaced = reach_on(&mut statuses, |status| status.generation == 2).await;
    assert_eq!(replaced.state, Ready);
    assert!(client.load().await.unwrap().packages().contains_key("other"));
}

#[tokio::test]
async fn a_peer_that_says_nothing_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options =
        ClientOptions { check_timeout: Duration::from_millis(50), ..ClientOptions::default() };
    let address = listener.local_addr().unwrap().to_string();
    let client = RegistryClient::open(CatalogKey::new("a", "b"), &address, options).unwrap();
    let reason = reach(&client, TransientFailure).await.reason.unwrap();
    assert_eq!(&*reason, "the server did not answer within 0.05 s");
    // The silent connection was given up: another one arrives.
    let _first = listener.accept().await.unwrap();
    let _second = listener.accept().await.unwrap();
}

/// Looks names up only after it has panicked so many times.
#[derive(Debug)]
struct Panics(AtomicUsize, SocketAddr);

#[async_trait]
impl Resolve for Panics {
    async fn resolve(&self, _: &Address) -> io::Result<Vec<SocketAddr>> {
        let left = self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        assert!(left.is_err(), "injected");
        Ok(vec![self.1])
    }
}

#[tokio::test]
async fn a_panic_over_a_connection_is_said_and_the_connection_is_made_later() {
    let server = Server::start("etcd").await;
    let resolver = Arc::new(Panics(AtomicUsize::new(2), server.address));
    let pause = Duration::from_millis(10);
    let options = ClientOptions { resolver, first_retry: pause, ..ClientOptions::default() };
    let client = RegistryClient::open(CatalogKey::new("a", "b"), "c:1", options).unwrap();
    let reason = reach(&client, TransientFailure).await.reason.unwrap();
    assert!(reason.contains("panicked: injected"), "{reason}");
    reach(&client, Ready).await;
    assert_eq!(client.load().await.unwrap().entries().len(), 8);
}

#[tokio::test]
async fn a_dropped_client_is_shut_down() {
    let server = Server::start("etcd").await;
    let client = server.client();
    let mut statuses = client.status();
    drop(client);
    assert_eq!(reach_on(&mut statuses, |status| status.state == Shutdown).await.state, Shutdown);
}

#[tokio::test]
async fn bad_addresses_are_refused() {
    let open = |address| {
        RegistryClient::open(CatalogKey::new("a", "b"), address, ClientOptions::default())
    };
    let message = open("catalog.svc").unwrap_err().to_string();
    assert_eq!(message, "address catalog.svc: missing port in address");
}

#[rstest::rstest]
#[case("127.0.0.1:grpc")]
#[case("127.0.0.1:70000")]
#[case("bad host:1")]
#[tokio::test]
async fn addresses_that_cannot_be_dialled(#[case] address: &str) {
    let key = CatalogKey::new("a", "b");
    let client = RegistryClient::open(key, address, ClientOptions::default()).unwrap();
    assert!(reach(&client, TransientFailure).await.reason.is_some());
}
