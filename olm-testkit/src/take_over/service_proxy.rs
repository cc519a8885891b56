//! A SOCKS 5 proxy (RFC 1928) that reaches Services of a cluster by their names.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::Client;
use kube::api::Api;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::image_catalog::address;

/// A proxy that ends when dropped.
#[derive(Debug)]
pub struct ServiceProxy {
    address: SocketAddr,
    running: JoinHandle<()>,
}

impl ServiceProxy {
    /// Listens on this machine.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(client: Client) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let address = listener.local_addr().context("a listener without address")?;
        let running = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let client = client.clone();
                // A connection that fails is tried again by whoever made it.
                tokio::spawn(async move { pass(stream, &client).await });
            }
        });
        Ok(Self { address, running })
    }

    /// What `GRPC_PROXY` says.
    pub fn url(&self) -> String {
        format!("socks5://{}", self.address)
    }
}

impl Drop for ServiceProxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Version of the protocol, and the answers to a greeting and to a request that can be served.
const VERSION: u8 = 5;
const NO_PASSWORD: [u8; 2] = [VERSION, 0];
const CONNECTED: [u8; 10] = [VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0];

/// The kind of address that is a name.
const DOMAIN: u8 = 3;

async fn pass(mut stream: TcpStream, client: &Client) -> Result<()> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await?;
    let [version, methods] = greeting;
    ensure!(version == VERSION, "SOCKS {version}");
    stream.read_exact(&mut vec![0; methods.into()]).await?;
    stream.write_all(&NO_PASSWORD).await?;
    let mut request = [0; 5];
    stream.read_exact(&mut request).await?;
    let [_, _, _, kind, length] = request;
    ensure!(kind == DOMAIN, "no name");
    let mut name = vec![0; length.into()];
    stream.read_exact(&mut name).await?;
    let port = stream.read_u16().await?;
    let mut server = TcpStream::connect((resolve(client, &name).await?, port)).await?;
    stream.write_all(&CONNECTED).await?;
    copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}

/// The address of `SERVICE.NAMESPACE.svc`.
async fn resolve(client: &Client, name: &[u8]) -> Result<IpAddr> {
    let name = std::str::from_utf8(name).context("the name is no text")?;
    let mut parts = name.split('.');
    let (service, namespace) = parts.next().zip(parts.next()).context("no name of a Service")?;
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    address(&services.get(service).await?).context("the Service has no address")
}
