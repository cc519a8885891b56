//! Catalogs that the operator serves itself.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use olm_catalog::image::Registry;
use olm_kit::ObjectKey;
use olm_kit::tasks::{Gate, Tasks};
use olm_kit::watch::{Store, WatchSet};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::args::Args;
use crate::controllers::catalog_source::Hosts;
use crate::hosting::{Host, HostingStores};
use crate::metrics::CatalogMetrics;
use crate::queues::Queues;
use crate::stores::Stores;
use crate::unpack::PullSecrets;

/// How long a start waits for the content of catalogs that a leader recorded. A registry that is away must
/// not keep the packages API away for ever.
const START: Duration = Duration::from_secs(60);
/// How long a Pod that ends goes on to serve: a new leader is there 2 s after the former one gave its Lease back,
/// and nodes know of a change of endpoints after a second.
const LEAVE: Duration = Duration::from_secs(6);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Pause before old content is removed: several catalogs change together.
const COLLECT: Duration = Duration::from_secs(5);

/// What catalogs that the operator serves take.
#[derive(Clone)]
pub(super) struct Hosting {
    pub(super) host: Host,
    pub(super) stores: HostingStores,
    changed: Arc<Notify>,
}

/// Where credentials for images come from.
pub(super) fn pull_secrets(args: &Args, client: &Client) -> PullSecrets {
    let global = args.hosting.global_pull_secret.clone();
    PullSecrets::new(client.clone(), args.global_catalog_namespace(), global)
}

impl Hosting {
    /// Has what it takes watched; nothing with `--catalogs=pod`.
    pub(super) fn assemble(
        args: &Args,
        (client, watches): (&Client, &mut WatchSet),
        registry: &Registry,
        (stores, queues): (&Stores, &Queues),
        metrics: &CatalogMetrics,
    ) -> anyhow::Result<Option<Self>> {
        let Some(options) = args.hosting.options(args.global_catalog_namespace()) else {
            return Ok(None);
        };
        let changed = Arc::new(Notify::new());
        let (queue, noted) = (queues.catalogs.clone(), Arc::clone(&changed));
        let secrets = pull_secrets(args, client);
        let hosting = metrics.hosting.clone();
        let host = Host::new(options, registry.clone(), secrets, hosting, move |key| {
            queue.add(ObjectKey::namespaced(&key.namespace, &key.name));
            noted.notify_one();
        })?;
        let watched = HostingStores::watched(watches, &args.namespace);
        watched.listen(&stores.catalogs, &queues.catalogs);
        let gone = Arc::clone(&changed);
        stores.catalogs.on_change(move |change| {
            if change.new.is_none() {
                gone.notify_one();
            }
        });
        Ok(Some(Self { host, stores: watched, changed }))
    }

    /// What a controller needs.
    pub(super) fn hosts(&self) -> Hosts {
        Hosts { host: self.host.clone(), stores: self.stores.clone() }
    }

    /// Before the process ends: clients are served until they are led to other replicas.
    pub(super) async fn end(&self) {
        if self.stores.replicas().len() > 1 {
            sleep(LEAVE).await;
        }
        self.host.end().await;
    }

    /// Readiness waits for what was served before; old content goes, at the start and when something
    /// changed.
    pub(super) fn keep(&self, catalogs: &Store<CatalogSource>, tasks: &Tasks) {
        let gate = tasks.readiness().gate("content of catalogs");
        let (me, catalogs, token) = (self.clone(), catalogs.clone(), tasks.token());
        tasks.spawn("content of catalogs", async move {
            tokio::select! {
                () = me.follow(catalogs, gate) => {}
                () = token.cancelled() => {}
            }
        });
    }

    async fn follow(self, catalogs: Store<CatalogSource>, gate: Gate) {
        while !(catalogs.is_synced() && self.stores.slices.is_synced()) {
            sleep(LOOK).await;
        }
        self.serve_again(&catalogs).await;
        gate.open();
        loop {
            let catalogs = catalogs.clone();
            let exists =
                move |key: &CatalogKey| catalogs.get(Some(&*key.namespace), &key.name).is_some();
            self.host.collect(exists).await;
            self.changed.notified().await;
            sleep(COLLECT).await;
        }
    }

    /// Serves what a leader recorded, from the disk if it is there, before controllers begin.
    async fn serve_again(&self, catalogs: &Store<CatalogSource>) {
        let (mut keys, mut ports) = (Vec::new(), Vec::new());
        for (key, record) in self.stores.recorded() {
            let catalog = catalogs.get(Some(&*key.namespace), &key.name);
            if let Some(catalog) = catalog.filter(|one| self.host.scope().covers(one)) {
                ports.extend(record.port.map(|port| (key.clone(), port)));
                self.host.want(&catalog, Some(record), false);
                keys.push(key);
            }
        }
        let deadline = Instant::now() + START;
        while !self.host.tried(&keys) && Instant::now() < deadline {
            sleep(LOOK).await;
        }
        for (key, port) in ports {
            self.host.serve(&key, port).await;
        }
    }
}
