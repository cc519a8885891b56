//! How the contents of catalogs are reached, and whether a user may read them.
//!
//! On a user's machine that is a port-forward, for which the API server asks what the user may. A program in the
//! cluster connects to the Service, which asks nothing: so the right to `get` CatalogSources of its namespace is
//! asked for before.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use k8s_openapi::api::core::v1::Service;
use kube::api::Api;
use olm_lifecycle::catalog_source::registry::service_name;
use olm_lifecycle::catalog_source::{Backend, backend};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::place::{CatalogLocation, server};
use crate::acts::rights::{self, Action};
use crate::cluster::{Cluster, cause};

/// How long an answer about a right counts.
const KEPT: Duration = Duration::from_secs(5);

/// Namespaces of which an answer is kept.
const MOST: usize = 256;

/// How the contents of catalogs are reached.
#[derive(Clone, Debug, Default)]
pub enum Route {
    /// Through a port-forward to the Pod.
    #[default]
    Forward,
    /// At the Service, where the user may `get` the CatalogSources of its namespace.
    Service(Arc<ReadAccess>),
}

/// What one user may read.
#[derive(Debug)]
pub struct ReadAccess {
    known: Mutex<BTreeMap<String, (Instant, bool)>>,
    /// Permits of all users together: catalogs take memory, so only so many pages read them at once.
    readers: Arc<Semaphore>,
}

impl Route {
    /// Waits until there is memory for the catalogs of a page.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Forward => None,
            Self::Service(access) => access.readers.clone().acquire_owned().await.ok(),
        }
    }
}

impl ReadAccess {
    /// Nothing is known yet. Users share `readers`.
    pub fn new(readers: Arc<Semaphore>) -> Self {
        Self { known: Mutex::default(), readers }
    }

    fn known(&self, namespace: &str, now: Instant) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(namespace);
        found.filter(|(asked, _)| now.duration_since(*asked) < KEPT).map(|(_, allowed)| *allowed)
    }

    fn keep(&self, namespace: &str, allowed: bool, now: Instant) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (asked, _)| now.duration_since(*asked) < KEPT);
        if known.len() < MOST {
            known.insert(namespace.to_owned(), (now, allowed));
        }
    }
}

/// The Service of a catalog, for a user who may read the catalog.
///
/// # Errors
/// The user may not, or there is no Service with an address of its own.
pub(super) async fn of_service(
    cluster: &Cluster,
    access: &ReadAccess,
    key: &CatalogKey,
    source: &CatalogSource,
) -> Result<CatalogLocation> {
    if !is_allowed(cluster, access, &key.namespace).await? {
        bail!("no right to get catalogsources in namespace {}", key.namespace);
    }
    let backend = backend(source)?;
    if let Backend::Address(address) = &backend {
        bail!("it is served at {address}, which this server does not connect to");
    }
    let name = service_name(source, &backend);
    let services: Api<Service> = cluster.api(Some(&key.namespace));
    let found = cluster.answer(services.get_opt(&name)).await;
    let found = found.map_err(|error| anyhow!("its Service cannot be read: {}", cause(&error)))?;
    let service = found.with_context(|| format!("it has no Service {name}"))?;
    server(key, &address(&service)?.to_string())
}

/// Whether the user may `get` CatalogSources of a namespace, as was answered moments ago at most.
async fn is_allowed(cluster: &Cluster, access: &ReadAccess, namespace: &str) -> Result<bool> {
    if let Some(allowed) = access.known(namespace, Instant::now()) {
        return Ok(allowed);
    }
    let wanted = Action::of_olm("get", "catalogsources", namespace);
    let allowed = rights::review(cluster, &wanted).await;
    let allowed = allowed.context("the right to read it cannot be asked for")?;
    access.keep(namespace, allowed, Instant::now());
    Ok(allowed)
}

/// The address that the API server has given to a Service. A name that leads elsewhere is none.
fn address(service: &Service) -> Result<SocketAddr> {
    let spec = service.spec.as_ref().context("its Service has no spec")?;
    let ip: Option<IpAddr> = spec.cluster_ip.as_deref().and_then(|ip| ip.parse().ok());
    let ip = ip.context("its Service has no address in the cluster")?;
    let ports = spec.ports.as_deref().unwrap_or_default();
    let named = ports.iter().find(|port| port.name.as_deref() == Some("grpc"));
    let port = named.or(ports.first()).and_then(|port| u16::try_from(port.port).ok());
    Ok(SocketAddr::new(ip, port.context("its Service has no port")?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    #[rstest]
    #[case(json!({"clusterIP": "10.0.0.1", "ports": [{"port": 1}, {"name": "grpc", "port": 2}]}), "10.0.0.1:2")]
    #[case(json!({"clusterIP": "fd00::1", "ports": [{"port": 1}]}), "[fd00::1]:1")]
    #[case(json!({"clusterIP": "10.0.0.1"}), "its Service has no port")]
    #[case(json!({"clusterIP": "None", "ports": [{"port": 1}]}), "no address in the cluster")]
    #[case(json!({"type": "ExternalName", "externalName": "a.example", "ports": [{"port": 1}]}),
        "no address in the cluster")]
    fn only_addresses_of_the_cluster_are_asked(#[case] spec: Value, #[case] expected: &str) {
        let service = from_value(json!({"spec": spec})).unwrap();
        let found = match address(&service) {
            Ok(found) => found.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn an_answer_counts_for_seconds_and_for_one_namespace() {
        let access = ReadAccess::new(Arc::new(Semaphore::new(1)));
        let now = Instant::now();
        access.keep("a", true, now);
        access.keep("b", false, now);
        assert_eq!(access.known("a", now), Some(true));
        assert_eq!(access.known("b", now), Some(false));
        assert_eq!(access.known("c", now), None);
        assert_eq!(access.known("a", now + KEPT), None);
    }

    #[test]
    fn answers_are_bounded() {
        let access = ReadAccess::new(Arc::new(Semaphore::new(1)));
        let now = Instant::now();
        (0..=MOST).for_each(|number| access.keep(&number.to_string(), true, now));
        assert_eq!(access.known(&MOST.to_string(), now), None);
        access.keep("later", true, now + KEPT);
        assert_eq!(access.known("later", now + KEPT), Some(true));
    }
}
