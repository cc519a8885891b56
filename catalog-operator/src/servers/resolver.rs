//! Names of Services as the cluster's DNS has them, without it: an operator outside of the cluster
//! reaches registry servers, too, and one inside needs no DNS for it.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use k8s_openapi::api::core::v1::Service;
use olm_catalog::registry::client::{Address, Resolve, SystemResolver};
use olm_kit::watch::Store;

/// Resolves `service.namespace.svc` to the Service's address; asks the operating system about
/// everything else.
#[derive(Clone)]
pub struct ServiceResolver {
    services: Store<Service>,
}

impl ServiceResolver {
    /// Knows the Services of a store.
    pub fn new(services: Store<Service>) -> Self {
        Self { services }
    }

    fn cluster_ip(&self, host: &str) -> Option<IpAddr> {
        let mut parts = host.split('.');
        let (name, namespace) = (parts.next()?, parts.next()?);
        if !parts.eq(["svc"]) {
            return None;
        }
        let service = self.services.get(Some(namespace), name)?;
        service.spec.as_ref()?.cluster_ip.as_deref()?.parse().ok()
    }
}

#[async_trait]
impl Resolve for ServiceResolver {
    async fn resolve(&self, address: &Address) -> io::Result<Vec<SocketAddr>> {
        let known = self.cluster_ip(address.host()).zip(address.port().parse().ok());
        match known {
            Some((ip, port)) => Ok(vec![SocketAddr::new(ip, port)]),
            None => SystemResolver.resolve(address).await,
        }
    }
}

impl fmt::Debug for ServiceResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceResolver").field("services", &self.services.len()).finish()
    }
}
