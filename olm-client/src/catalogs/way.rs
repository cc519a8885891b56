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

use super::place::{Place, server};
use crate::acts::rights::{self, Action};
use crate::cluster::{Cluster, cause};

/// How long an answer about a right counts.
const KEPT: Duration = Duration::from_secs(5);

/// Namespaces of which an answer is kept.
const MOST: usize = 256;

/// How the contents of catalogs are reached.
#[derive(Clone, Debug, Default)]
pub enum Way {
    /// Through a port-forward to the Pod.
    #[default]
    Forward,
    /// At the Service, where the user may `get` the CatalogSources of its namespace.
    Service(Arc<Permits>),
}

/// What one user may read.
#[derive(Debug)]
pub struct Permits {
    known: Mutex<BTreeMap<String, (Instant, bool)>>,
    /// Catalogs take memory: so many pages read them at once, of all users.
    turns: Arc<Semaphore>,
}

impl Way {
    /// Waits until there is memory for the catalogs of a page.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Forward => None,
            Self::Service(permits) => permits.turns.clone().acquire_owned().await.ok(),
        }
    }
}

impl Permits {
    /// Nothing is known yet. Users share the turns.
    pub fn new(turns: Arc<Semaphore>) -> Self {
        Self { known: Mutex::default(), turns }
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
    permits: &Permits,
    key: &CatalogKey,
    source: &CatalogSource,
) -> Result<Place> {
    if !is_allowed(cluster, permits, &key.namespace).await? {
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
async fn is_allowed(cluster: &Cluster, permits: &Permits, namespace: &str) -> Result<bool> {
    if let Some(allowed) = permits.known(namespace, Instant::now()) {
        return Ok(allowed);
    }
    let wanted = Action::of_olm("get", "catalogsources", namespace);
    let allowed = rights::review(cluster, &wanted).await;
    let allowed = allowed.context("the right to read it cannot be asked for")?;
    permits.keep(namespace, allowed, Instant::now());
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
        let permits = Permits::new(Arc::new(Semaphore::new(1)));
        let now = Instant::now();
        permits.keep("a", true, now);
        permits.keep("b", false, now);
        assert_eq!(permits.known("a", now), Some(true));
        assert_eq!(permits.known("b", now), Some(false));
        assert_eq!(permits.known("c", now), None);
        assert_eq!(permits.known("a", now + KEPT), None);
    }

    #[test]
    fn answers_are_bounded() {
        let permits = Permits::new(Arc::new(Semaphore::new(1)));
        let now = Instant::now();
        (0..=MOST).for_each(|number| permits.keep(&number.to_string(), true, now));
        assert_eq!(permits.known(&MOST.to_string(), now), None);
        permits.keep("later", true, now + KEPT);
        assert_eq!(permits.known("later", now + KEPT), Some(true));
    }
}
