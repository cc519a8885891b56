//! Catalogs that this process serves itself (`--catalogs=process`): pulled, kept on a disk, loaded from
//! there and served at a port each.
//!
//! ```text
//! reconcile --want--> hosted --task--> resolve, obtain --> store on disk
//!     ^                                      |
//!     '------ changed -----------------------'--> connection (resolution), port (gRPC clients)
//! ```
//! What is to be done next is decided by `olm_lifecycle::catalog_source::hosting`. Every replica does all
//! of this; only the leader resolves, and records what it obtained.

mod content;
mod hosted;
mod peers;
mod ports;
mod pull_locks;
mod stores;
mod target;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::ValueEnum;
use dashmap::DashMap;
use kube::ResourceExt;
use olm_catalog::connection::CatalogConnection;
use olm_catalog::image::{Limits, Registry};
use olm_catalog::store::CatalogStore;
use olm_lifecycle::catalog_source::hosting::{
    HostedContent, PortRange, PullFailure, Record, Replica, Scope, content_name, is_listed,
};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::metrics::HostingMetrics;
use crate::slots::{SlotLimits, Slots};
use crate::unpack::{Account, PullSecrets};
use hosted::{DesiredContent, Hosted};
use peers::{Peers, ReplicaQuery};
use ports::Ports;
use pull_locks::PullLocks;

pub use stores::HostingStores;

/// Images that are pulled at the same time, of all namespaces.
const PULLS: usize = 2;
/// The same by namespaces: other namespaces leave a place to global catalogs.
const PULLS_BY_NAMESPACE: SlotLimits = SlotLimits { each: 1, all: 1, global: PULLS };

/// What is logged where another process uses the folder, which is fine as long as all of them run.
const SHARED: &str = "another process keeps its catalogs in this folder, too; a volume of several replicas has to be \
    ReadWriteMany: with ReadWriteOnce, a replica on another node does not start";

/// What serves catalogs of images (`--catalogs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CatalogServer {
    /// A Pod for each, as in v0.
    #[default]
    Pod,
    /// The operator, global ones and those of namespaces that are named.
    Process,
}

/// How catalogs are hosted.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Which.
    pub scope: Scope,
    /// Where global catalogs are.
    pub global_namespace: String,
    /// The folder in which they are kept.
    pub folder: PathBuf,
    /// Bytes that it may take.
    pub bytes: u64,
    /// At which ports they are served.
    pub ports: PortRange,
    /// At which address; at all of this machine when this is none.
    pub address: Option<IpAddr>,
    /// Bounds on their images.
    pub limits: Limits,
    /// The name of this replica's Pod.
    pub pod: Option<String>,
    /// Where replicas are reached whose Pods have an address that leads nowhere.
    pub replica_addresses: BTreeMap<IpAddr, IpAddr>,
}

/// Hosts catalogs. Clones share everything.
#[derive(Clone)]
pub struct Host(Arc<Shared>);

struct Shared {
    options: HostOptions,
    store: CatalogStore,
    registry: Registry,
    secrets: PullSecrets,
    slots: Slots,
    pulls: Arc<Semaphore>,
    pull_locks: PullLocks,
    hosted: DashMap<CatalogKey, Arc<Hosted>>,
    ports: Ports,
    peers: Peers,
    metrics: HostingMetrics,
    /// Called when something about a catalog changed; must be quick.
    changed: Box<dyn Fn(&CatalogKey) + Send + Sync>,
}

/// What is known of a hosted catalog.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What it has.
    pub content: Option<HostedContent>,
    /// What went wrong since.
    pub failure: Option<PullFailure>,
}

impl Host {
    /// Uses the folder of the options.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn new(
        options: HostOptions,
        registry: Registry,
        secrets: PullSecrets,
        metrics: HostingMetrics,
        changed: impl Fn(&CatalogKey) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let store = CatalogStore::open(&options.folder, options.bytes)
            .context("cannot keep catalogs; --catalogs-dir names a folder for them")?;
        metrics.stored(store.bytes());
        if store.was_in_use() {
            tracing::info!(folder = %options.folder.display(), "{SHARED}");
        }
        Ok(Self(Arc::new(Shared {
            slots: Slots::new(&options.global_namespace, PULLS_BY_NAMESPACE),
            pulls: Arc::new(Semaphore::new(PULLS)),
            pull_locks: PullLocks::default(),
            ports: Ports::new(options.ports, options.address),
            peers: Peers::default(),
            hosted: DashMap::new(),
            changed: Box::new(changed),
            options,
            store,
            registry,
            secrets,
            metrics,
        })))
    }

    /// Which catalogs are hosted.
    pub fn scope(&self) -> &Scope {
        &self.0.options.scope
    }

    /// Has a catalog hosted, or takes in what changed about it; `recorded` is what a leader did, which
    /// this replica may be.
    pub fn want(&self, catalog: &CatalogSource, recorded: Option<Record>, leads: bool) {
        let key = &CatalogKey::new(&catalog.namespace().unwrap_or_default(), &catalog.name_any());
        let target = target::target(catalog, recorded, leads);
        let wanted = DesiredContent { target, account: Account::of(catalog) };
        let known = self.0.hosted.get(key).map(|known| Arc::clone(&known));
        match known {
            Some(hosted) => hosted.want(wanted),
            None => {
                let hosted = Hosted::start(Arc::clone(&self.0), key.clone(), wanted);
                self.0.hosted.insert(key.clone(), hosted);
            }
        }
    }

    /// A catalog is not hosted any more. What is on the disk goes with [`Self::collect`].
    pub fn release(&self, key: &CatalogKey) {
        if let Some((_, hosted)) = self.0.hosted.remove(key) {
            hosted.stop();
            self.0.peers.forget(key);
            self.0.ports.close(key);
            self.0.metrics.forget(key);
        }
    }

    /// What is known of a catalog; none when it is not hosted.
    pub fn view(&self, key: &CatalogKey) -> Option<View> {
        self.0.hosted.get(key).map(|hosted| hosted.view())
    }

    /// The connection of a hosted catalog, which has content or will have.
    pub fn connection(&self, key: &CatalogKey) -> Option<Arc<dyn CatalogConnection>> {
        self.0.hosted.get(key).map(|hosted| hosted.connection())
    }

    /// The port of a catalog, which others may have recorded; none when all are taken.
    pub fn port(&self, key: &CatalogKey, recorded: Option<u16>, others: &[u16]) -> Option<u16> {
        self.0.ports.choose(key, recorded, others)
    }

    /// Serves the content of a catalog at a port, if it has some.
    pub async fn serve(&self, key: &CatalogKey, port: u16) {
        let served = || self.0.hosted.get(key).and_then(|hosted| hosted.served());
        let Some(found) = served() else { return };
        self.0.ports.serve(key, port, found).await;
        // It may have got other content meanwhile.
        if let Some(found) = served() {
            self.0.ports.show(key, &found);
        }
    }

    /// Which of these replicas serve the content of a catalog, as far as they say so. They are asked from now on;
    /// `listed` are those to which clients are sent.
    pub fn serving(
        &self,
        key: &CatalogKey,
        (content, port): (&HostedContent, u16),
        mut replicas: Vec<Replica>,
        listed: &BTreeSet<IpAddr>,
    ) -> Vec<Replica> {
        let content = content_name(&key.namespace, &key.name, content);
        let is_own = |replica: &Replica| self.0.options.pod.as_ref() == Some(&replica.name);
        let others = replicas.iter().filter(|replica| !is_own(replica));
        let addresses = others.map(|replica| replica.address).collect();
        let question = ReplicaQuery { content, port, addresses };
        let heard = self.0.peers.ask(&self.0, key, &question);
        for replica in &mut replicas {
            replica.serves = if is_own(replica) {
                self.0.ports.has(key, port, &question.content)
            } else {
                let heard = heard.get(&replica.address).copied().unwrap_or_default();
                is_listed(heard, listed.contains(&replica.address))
            };
        }
        replicas
    }

    /// Other replicas are not asked about a catalog any more.
    pub fn stop_asking(&self, key: &CatalogKey) {
        self.0.peers.forget(key);
    }

    /// Serves no catalog any more, and waits until calls under way have ended.
    pub async fn end(&self) {
        self.0.ports.end().await;
    }

    /// Removes what no catalog has or had before.
    pub async fn collect(&self, exists: impl Fn(&CatalogKey) -> bool + Send + 'static) {
        let (store, metrics) = (self.0.store.clone(), self.0.metrics.clone());
        let collected = olm_kit::tasks::blocking(move || {
            let collected = store.collect(exists);
            metrics.stored(store.bytes());
            collected
        });
        match collected.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "old catalogs are not removed"),
            Err(error) => tracing::error!(%error, "old catalogs are not removed"),
        }
    }

    /// Whether each of these catalogs has content, or it was tried to get some.
    pub fn tried<'a>(&self, keys: impl IntoIterator<Item = &'a CatalogKey>) -> bool {
        let tried = |key: &CatalogKey| self.0.hosted.get(key).is_some_and(|hosted| hosted.tried());
        keys.into_iter().all(tried)
    }

    /// What is known, for the diagnostics endpoint.
    pub fn dump(&self) -> Value {
        let mut all: Vec<_> = self.0.hosted.iter().map(|entry| entry.value().dump()).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let (taken, limit) = self.0.store.bytes();
        let catalogs: Value = all.into_iter().map(|(key, dump)| (key.to_string(), dump)).collect();
        json!({"catalogs": catalogs, "bytes": taken, "limit": limit, "ports": self.0.ports.dump(),
            "replicas": self.0.peers.dump()})
    }
}
