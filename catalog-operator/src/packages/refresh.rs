//! Keeps the packages of a catalog in step with its content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::{StreamExt, stream};
use kube::ResourceExt;
use olm_catalog::packages::{CatalogFacts, Head, Heads, StoredPackage, manifest};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::watch::Store;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;

use super::PackageCache;
use crate::catalogs::{Catalogs, Content};

/// Bundles that are fetched at the same time from one catalog.
const AT_ONCE: usize = 4;

/// Packs the packages of catalogs.
pub struct Refresh {
    pub(crate) store: Store<CatalogSource>,
    pub(crate) catalogs: Catalogs,
    pub(crate) packages: PackageCache,
    /// What the packages in the cache were made of.
    pub(crate) made_of: DashMap<CatalogKey, Source>,
}

/// What packages are made of.
#[derive(Clone)]
pub struct Source {
    snapshot: Arc<CatalogSnapshot>,
    facts: CatalogFacts,
}

#[async_trait]
impl Reconciler<ObjectKey> for Refresh {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let catalog = CatalogKey::new(namespace, &key.name);
        let Some(source) = self.store.get_key(key) else {
            self.packages.forget(&catalog);
            self.made_of.remove(&catalog);
            return Ok(Conclusion::Done);
        };
        // A catalog that is away keeps what was last known of it.
        if let Content::Loaded(snapshot) = self.catalogs.content(&catalog) {
            self.refresh(Source { snapshot, facts: facts(catalog, &source) }).await?;
        }
        Ok(Conclusion::Done)
    }
}

impl Refresh {
    async fn refresh(&self, source: Source) -> Result<(), ReconcileError> {
        let key = source.facts.key.clone();
        if self.made_of.get(&key).is_some_and(|known| known.is_same(&source)) {
            return Ok(());
        }
        let heads = self.heads(&key, &source.snapshot).await;
        let packing = source.clone();
        let packed = tokio::task::spawn_blocking(move || pack(&packing, &heads)).await;
        let packed = packed.map_err(|error| ReconcileError::message(error.to_string()))?;
        self.packages.put(key.clone(), packed);
        self.made_of.insert(key, source);
        Ok(())
    }

    /// The CSVs at the heads of all channels, each once. One that cannot be had is left out, and its
    /// channel with it.
    async fn heads(&self, key: &CatalogKey, snapshot: &CatalogSnapshot) -> Heads {
        let fetched = stream::iter(wanted(snapshot)).map(async |(name, (package, channel))| {
            let bundle = self.catalogs.bundle(key, &package, &channel, &name).await;
            let head = bundle
                .and_then(|bundle| Head::read(&bundle.csv_json).map_err(|error| error.to_string()));
            (name, head)
        });
        let fetched: Vec<_> = fetched.buffer_unordered(AT_ONCE).collect().await;
        let mut heads = Heads::new();
        for (bundle, head) in fetched {
            match head {
                Ok(head) => drop(heads.insert(bundle, head)),
                Err(why) => tracing::warn!(catalog = %key, %bundle, why, "channels are not shown"),
            }
        }
        heads
    }
}

impl Source {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot) && self.facts == other.facts
    }
}

/// Head bundles with a package and a channel that they are found under.
fn wanted(snapshot: &CatalogSnapshot) -> BTreeMap<Arc<str>, (Arc<str>, Arc<str>)> {
    let mut wanted = BTreeMap::new();
    for (package, summary) in snapshot.packages() {
        for (channel, summary) in &summary.channels {
            wanted
                .entry(Arc::clone(&summary.head))
                .or_insert_with(|| (Arc::clone(package), Arc::clone(channel)));
        }
    }
    wanted
}

fn pack(source: &Source, heads: &Heads) -> Vec<Arc<StoredPackage>> {
    let snapshot = &source.snapshot;
    let mut omitted = BTreeSet::new();
    let mut packed = Vec::new();
    for (name, summary) in snapshot.packages() {
        let made = manifest(&source.facts, name, summary, snapshot.package(name), heads);
        let stored = made.map_err(|error| error.to_string());
        let stored = stored.and_then(|made| StoredPackage::new(made).map_err(|e| e.to_string()));
        match stored {
            Ok(stored) => packed.push(Arc::new(stored)),
            Err(_) => drop(omitted.insert(Arc::clone(name))),
        }
    }
    if !omitted.is_empty() {
        let catalog = &source.facts.key;
        tracing::warn!(%catalog, packages = ?omitted, "packages without a channel are not shown");
    }
    packed
}

fn facts(key: CatalogKey, source: &CatalogSource) -> CatalogFacts {
    CatalogFacts {
        key,
        display_name: source.spec.display_name.clone().unwrap_or_default(),
        publisher: source.spec.publisher.clone().unwrap_or_default(),
        labels: source.labels().clone(),
        created: source.metadata.creation_timestamp.clone(),
    }
}
