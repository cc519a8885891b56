//! A registry that is reached through a proxy.

use std::io;
use std::net::SocketAddr;

use olm_catalog::connection::CatalogConnection;
use olm_catalog::connection::ConnectionState::{Ready, TransientFailure};
use olm_catalog::registry::client::{ClientOptions, Proxy, RegistryClient};
use olm_types::bundle::CatalogKey;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::{Server, reach};

/// An HTTP proxy that leads every tunnel to one address, or refuses it; its task ends with the
/// first line of the first request.
async fn proxy(leads_to: Option<SocketAddr>) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut asked = String::new();
        stream.read_line(&mut asked).await.unwrap();
        tokio::spawn(answer(stream, leads_to));
        asked
    });
    (address, task)
}

async fn answer(mut stream: BufReader<TcpStream>, leads_to: Option<SocketAddr>) -> io::Result<()> {
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        stream.read_line(&mut line).await?;
    }
    let Some(target) = leads_to else {
        return stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").await;
    };
    let mut target = TcpStream::connect(target).await?;
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    tokio::io::copy_bidirectional(&mut stream, &mut target).await?;
    Ok(())
}

fn client(proxy: SocketAddr) -> RegistryClient {
    let proxy =
        Proxy::from_environment(|name| (name == "GRPC_PROXY").then(|| format!("http://{proxy}")));
    let options = ClientOptions { proxy, ..ClientOptions::default() };
    let key = CatalogKey::new("olm", "test");
    RegistryClient::open(key, "catalog.example:50051", options).unwrap()
}

#[tokio::test]
async fn a_catalog_behind_a_proxy_is_loaded() {
    let server = Server::start("etcd").await;
    let (address, asked) = proxy(Some(server.address)).await;
    let client = client(address);
    reach(&client, Ready).await;
    assert_eq!(client.load().await.unwrap().entries().len(), 8);
    let asked = asked.await.unwrap();
    assert_eq!(asked, "CONNECT catalog.example:50051 HTTP/1.1\r\n", "the proxy resolves names");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    let (address, _asked) = proxy(None).await;
    let status = reach(&client(address), TransientFailure).await;
    let reason = status.reason.unwrap();
    let expected = format!(
        "the proxy {address} refuses a tunnel to catalog.example:50051: HTTP/1.1 403 Forbidden"
    );
    assert!(reason.contains(&expected), "{reason}");
}
