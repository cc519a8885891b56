//! A SOCKS 5 proxy (RFC 1928) that reaches Services of a cluster by their names.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

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
    routes: Routes,
    running: JoinHandle<()>,
}

/// Where Services are reached that are not reached at their address, by name and namespace.
type Routes = Arc<Mutex<BTreeMap<(String, String), SocketAddr>>>;

impl ServiceProxy {
    /// Listens on this machine.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(client: Client) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let address = listener.local_addr().context("a listener without address")?;
        let routes = Routes::default();
        let known = Arc::clone(&routes);
        let running = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (client, routes) = (client.clone(), Arc::clone(&known));
                // A connection that fails is tried again by whoever made it.
                tokio::spawn(async move { pass(stream, &client, &routes).await });
            }
        });
        Ok(Self { address, routes, running })
    }

    /// Leads to this address for a Service from now on, whatever becomes of the Service: v0 makes the one of a new
    /// catalog anew, with another address, when it sees the catalog again before its own status of it
    /// (`EnsureRegistryServer` overwrites what is there while `status.registryService` is not known).
    pub fn route(&self, service: &str, namespace: &str, address: SocketAddr) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        routes.insert((service.to_owned(), namespace.to_owned()), address);
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

async fn pass(mut stream: TcpStream, client: &Client, routes: &Routes) -> Result<()> {
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
    let (service, namespace) = service_of(&name).context("no name of a Service")?;
    let address = match routed(routes, service, namespace) {
        Some(address) => address,
        None => SocketAddr::new(resolve(client, service, namespace).await?, port),
    };
    let mut server = TcpStream::connect(address).await?;
    stream.write_all(&CONNECTED).await?;
    copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}

/// The Service and its namespace in `SERVICE.NAMESPACE`, whatever the domain behind that is.
fn service_of(name: &[u8]) -> Option<(&str, &str)> {
    let mut parts = std::str::from_utf8(name).ok()?.split('.');
    let (service, namespace) = parts.next().zip(parts.next())?;
    (!service.is_empty() && !namespace.is_empty()).then_some((service, namespace))
}

/// Where a Service is reached, if that is not at its address.
fn routed(routes: &Routes, service: &str, namespace: &str) -> Option<SocketAddr> {
    let routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
    routes.get(&(service.to_owned(), namespace.to_owned())).copied()
}

/// The address of a Service.
async fn resolve(client: &Client, service: &str, namespace: &str) -> Result<IpAddr> {
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    address(&services.get(service).await?).context("the Service has no address")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("shelf.olm.svc", Some(("shelf", "olm")))]
    #[case("shelf.olm.svc.cluster.local", Some(("shelf", "olm")))]
    #[case("shelf.olm", Some(("shelf", "olm")))]
    #[case("shelf", None)]
    #[case(".olm.svc", None)]
    #[case("shelf..svc", None)]
    fn names_of_services(#[case] name: &str, #[case] expected: Option<(&str, &str)>) {
        assert_eq!(service_of(name.as_bytes()), expected);
    }

    #[test]
    fn what_has_a_route_is_led_there() {
        let (routes, there) = (Routes::default(), SocketAddr::from(([127, 0, 0, 2], 7)));
        routes.lock().unwrap().insert(("shelf".to_owned(), "olm".to_owned()), there);
        assert_eq!(routed(&routes, "shelf", "olm"), Some(there));
        assert_eq!(routed(&routes, "shelf", "other"), None);
        assert_eq!(routed(&routes, "other", "olm"), None);
    }
}
