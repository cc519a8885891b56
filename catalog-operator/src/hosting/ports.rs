//! Which catalog is served at which port.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use olm_catalog::registry::server::{ServerOptions, SwitchedServer};
use olm_kit::tasks::contained;
use olm_lifecycle::catalog_source::hosting::{PortRange, choose_port};
use olm_types::bundle::CatalogKey;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::hosted::Served;

/// How a catalog is served beside all that this process does otherwise.
const OPTIONS: ServerOptions = ServerOptions {
    drain: Duration::from_secs(10),
    calls_per_connection: 16,
    calls: 64,
    call_time: Duration::from_secs(30),
    streams: 64,
    reader_time: Duration::from_secs(120),
    request_bytes: 64 << 10,
    keepalive: Duration::from_secs(60),
};

/// How long a catalog is served after its Service leads elsewhere: until every node knows that.
const LINGER: Duration = Duration::from_secs(10);

/// All ports.
pub(super) struct Ports {
    range: PortRange,
    address: Option<IpAddr>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    chosen: BTreeMap<CatalogKey, u16>,
    open: BTreeMap<CatalogKey, Open>,
    /// Why a port cannot be listened at.
    failed: BTreeMap<CatalogKey, String>,
}

/// A catalog that is served.
struct Open {
    port: u16,
    served: Served,
    server: SwitchedServer,
    /// Since when it is about to end.
    closing: Option<Instant>,
}

impl Open {
    fn serves(&self, served: &Served) -> bool {
        Arc::ptr_eq(&self.served.index, &served.index) && self.served.content == served.content
    }

    fn show(&mut self, served: &Served) {
        self.served = served.clone();
        self.server.show(Arc::clone(&served.index) as Arc<_>, &served.content);
    }
}

impl Ports {
    pub(super) fn new(range: PortRange, address: Option<IpAddr>) -> Self {
        Self { range, address, state: Arc::default() }
    }

    /// The port of a catalog. One that was chosen stays; `others` are recorded for other catalogs.
    pub(super) fn choose(
        &self,
        key: &CatalogKey,
        recorded: Option<u16>,
        others: &[u16],
    ) -> Option<u16> {
        let mut state = self.state();
        if let Some(port) = state.chosen.get(key) {
            return Some(*port);
        }
        let taken: BTreeSet<u16> = state.chosen.values().chain(others).copied().collect();
        let port = choose_port(self.range, recorded, &taken, &key.namespace, &key.name)?;
        state.chosen.insert(key.clone(), port);
        Some(port)
    }

    /// Serves a catalog at a port of the range, in place of where it was served before.
    pub(super) async fn serve(&self, key: &CatalogKey, port: u16, served: Served) {
        if self.stays_open(key, port) || !self.range.all().contains(&port) {
            return;
        }
        let listener = match listen(self.address, port).await {
            Ok(listener) => listener,
            Err(error) => {
                let why = error.to_string();
                tracing::warn!(catalog = %key, port, why, "the catalog is not served for gRPC clients");
                self.state().failed.insert(key.clone(), why);
                return;
            }
        };
        let server = SwitchedServer::start(&format!("server of catalog {key}"), listener, OPTIONS);
        server.show(Arc::clone(&served.index) as Arc<_>, &served.content);
        let mut state = self.state();
        state.failed.remove(key);
        state.chosen.insert(key.clone(), port);
        state.open.insert(key.clone(), Open { port, served, server, closing: None });
        tracing::info!(catalog = %key, port, "catalog is served for gRPC clients");
    }

    /// Serves newer content, where the catalog is served.
    pub(super) fn show(&self, key: &CatalogKey, served: &Served) {
        if let Some(open) = self.state().open.get_mut(key).filter(|open| !open.serves(served)) {
            open.show(served);
        }
    }

    /// Whether a catalog is served at a port, with this content.
    pub(super) fn has(&self, key: &CatalogKey, port: u16, content: &str) -> bool {
        let state = self.state();
        let open = state.open.get(key).filter(|open| open.port == port);
        open.is_some_and(|open| open.served.content == content)
    }

    /// Whether it is served there already; it is not about to end any more.
    fn stays_open(&self, key: &CatalogKey, port: u16) -> bool {
        let mut state = self.state();
        let open = state.open.get_mut(key).filter(|open| open.port == port);
        open.map(|open| open.closing = None).is_some()
    }

    /// Ends what serves a catalog, after [`LINGER`]: clients are led here until every node knows better.
    pub(super) fn close(&self, key: &CatalogKey) {
        let since = Instant::now();
        let mut state = self.state();
        state.failed.remove(key);
        let Some(open) = state.open.get_mut(key) else {
            state.chosen.remove(key);
            return;
        };
        open.closing = Some(since);
        let (all, key) = (Arc::clone(&self.state), key.clone());
        contained("end of a catalog's server", async move {
            sleep(LINGER).await;
            let mut state = lock(&all);
            if state.open.get(&key).is_some_and(|open| open.closing == Some(since)) {
                state.open.remove(&key);
                state.chosen.remove(&key);
            }
        });
    }

    /// Ends what serves all catalogs, once calls under way have ended.
    pub(super) async fn end(&self) {
        let open = std::mem::take(&mut self.state().open);
        join_all(open.into_values().map(|open| open.server.end())).await;
    }

    pub(super) fn dump(&self) -> Value {
        let state = self.state();
        let open = state.open.iter().map(|(key, open)| (key.to_string(), json!(open.port)));
        let failed = state.failed.iter().map(|(key, why)| (key.to_string(), json!(why)));
        open.chain(failed).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens at an address; by default at all addresses of both families, or of the one that this
/// machine has.
async fn listen(address: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    if let Some(address) = address {
        return TcpListener::bind(SocketAddr::new(address, port)).await;
    }
    match TcpListener::bind(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port)).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port)).await,
    }
}
