//! Keeps the packages of a catalog in step with its content.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::{StreamExt, stream};
use kube::ResourceExt;
use olm_catalog::packages::{CatalogFacts, Head, Heads, SHOWN_BYTES, StoredPackage, manifest};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::tasks::{Panicked, blocking, in_place};
use olm_kit::watch::Store;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use tokio::time::{Instant, timeout_at};

use super::PackageCache;
use crate::catalogs::{Catalogs, Content};

/// Packages of one catalog that are made at the same time.
const AT_ONCE: usize = 4;
/// How long one bundle may take before its catalog is given up for now.
const BUNDLE: Duration = Duration::from_secs(10);
/// How long all bundles of a catalog may take together.
const PASS: Duration = Duration::from_secs(120);
/// When a catalog that was given up is asked again.
const AGAIN: Duration = Duration::from_secs(300);

/// Until it is tried again whether there is memory for packages that are not shown.
const MEMORY_RETRY: Duration = Duration::from_secs(300);

/// Packs the packages of catalogs.
pub struct PackageReconciler {
    pub(crate) store: Store<CatalogSource>,
    pub(crate) catalogs: Catalogs,
    pub(crate) packages: PackageCache,
    /// What the packages in the cache were made of.
    pub(crate) made_of: DashMap<CatalogKey, Source>,
}

/// Packages of a catalog, in the order of their names.
#[derive(Default)]
struct CatalogPackages {
    shown: Vec<Arc<StoredPackage>>,
    bytes: usize,
    /// Why the rest is not shown.
    hidden: Option<String>,
}

impl CatalogPackages {
    /// Adds a package if there is memory for it.
    fn add(&mut self, catalogs: &Catalogs, key: &CatalogKey, package: &Arc<StoredPackage>) -> bool {
        let bytes = self.bytes.saturating_add(package.bytes());
        match catalogs.keep_packages(key, bytes) {
            Ok(()) => {
                self.bytes = bytes;
                self.shown.push(Arc::clone(package));
                true
            }
            Err(over) => {
                let name = package.name();
                self.hidden = Some(format!("packages from {name} on are not shown: {over}"));
                false
            }
        }
    }
}

/// One look at the bundles of a catalog: given up as soon as the catalog is too slow.
struct Pass {
    deadline: Instant,
    given_up: AtomicBool,
}

/// What packages are made of.
#[derive(Clone)]
pub struct Source {
    snapshot: Arc<CatalogSnapshot>,
    facts: CatalogFacts,
}

#[async_trait]
impl Reconciler<ObjectKey> for PackageReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let catalog = CatalogKey::new(namespace, &key.name);
        let Some(source) = self.store.get_key(key) else {
            self.packages.forget(&catalog);
            self.catalogs.release_packages(&catalog);
            self.made_of.remove(&catalog);
            return Ok(Conclusion::Done);
        };
        // A catalog that is away keeps what was last known of it.
        if let Content::Loaded(snapshot) = self.catalogs.content(&catalog) {
            return self.refresh(Source { snapshot, facts: facts(catalog, &source) }).await;
        }
        Ok(Conclusion::Done)
    }
}

impl PackageReconciler {
    async fn refresh(&self, source: Source) -> Result<Conclusion, ReconcileError> {
        let key = source.facts.key.clone();
        if self.made_of.get(&key).is_some_and(|known| known.is_same(&source)) {
            return Ok(Conclusion::Done);
        }
        let pass = Pass::new();
        let names: Vec<Arc<str>> = source.snapshot.packages().keys().cloned().collect();
        // One after the other is fetched and packed: unpacked, all together are many times as large.
        let packed = stream::iter(names).map(async |name| {
            let packed = self.package(&source, &name, &pass).await;
            (name, packed)
        });
        let mut packed = pin!(packed.buffered(AT_ONCE));
        // What was shown is replaced: it does not count twice.
        self.catalogs.release_packages(&key);
        let (mut made, mut omitted) = (CatalogPackages::default(), Vec::new());
        while let Some((name, packed)) = packed.next().await {
            match packed.map_err(|error| ReconcileError::message(error.to_string()))? {
                Some(package) if made.add(&self.catalogs, &key, &package) => {}
                Some(_) => break,
                None => omitted.push(name),
            }
        }
        if !omitted.is_empty() {
            tracing::warn!(catalog = %key, packages = ?omitted, "packages without a channel are not shown");
        }
        if pass.is_given_up() {
            tracing::warn!(catalog = %key, "the catalog is too slow to show all of its packages");
            return Ok(self.put_part(key, made));
        }
        Ok(self.put(source.clone(), made))
    }

    /// Shows packages of a catalog that is too slow to give the rest. What is shown already is of more
    /// use than a part.
    fn put_part(&self, key: CatalogKey, made: CatalogPackages) -> Conclusion {
        if !self.made_of.contains_key(&key) {
            self.packages.put(key, made.shown);
            return Conclusion::RequeueAfter(AGAIN);
        }
        if self.catalogs.keep_packages(&key, self.packages.bytes(&key)).is_err() {
            self.packages.put(key.clone(), made.shown);
            self.made_of.remove(&key);
        }
        Conclusion::RequeueAfter(AGAIN)
    }

    /// Shows packages in place of those that were shown, and says what is not shown.
    fn put(&self, source: Source, made: CatalogPackages) -> Conclusion {
        let key = source.facts.key.clone();
        self.packages.put(key.clone(), made.shown);
        self.catalogs.note_hidden(&key, made.hidden.clone());
        if made.hidden.is_some() {
            return Conclusion::RequeueAfter(MEMORY_RETRY);
        }
        self.made_of.insert(key, source);
        Conclusion::Done
    }

    /// A package, packed; nothing when it has no channel that can be shown.
    async fn package(
        &self,
        source: &Source,
        name: &Arc<str>,
        pass: &Pass,
    ) -> Result<Option<Arc<StoredPackage>>, Panicked> {
        let heads = self.heads(source, name, pass).await;
        let (source, name) = (source.clone(), Arc::clone(name));
        blocking(move || pack(&source, &name, &heads)).await
    }

    /// The CSVs at the heads of a package's channels, each once. One that is unavailable is left
    /// out, and its channel with it.
    async fn heads(&self, source: &Source, package: &Arc<str>, pass: &Pass) -> Heads {
        let key = &source.facts.key;
        let (mut heads, mut bytes) = (Heads::new(), 0_usize);
        for (bundle, channel) in wanted(&source.snapshot, package) {
            if bytes >= SHOWN_BYTES {
                tracing::warn!(catalog = %key, package = %package, "not all channels are shown: their CSVs are too large");
                break;
            }
            let found = pass.within(self.catalogs.bundle(key, package, &channel, &bundle)).await;
            let head = found.and_then(|found| {
                let read = || Head::read(&found.csv_json).map_err(|error| error.to_string());
                in_place::read(found.csv_json.len(), read)
            });
            match head {
                Ok(head) => {
                    bytes = bytes.saturating_add(head.bytes);
                    heads.insert(bundle, head);
                }
                Err(why) => tracing::warn!(catalog = %key, %bundle, why, "channels are not shown"),
            }
        }
        heads
    }
}

impl Pass {
    fn new() -> Self {
        Self { deadline: Instant::now() + PASS, given_up: AtomicBool::new(false) }
    }

    /// What a call gives, if the catalog is not given up before it or for it.
    async fn within<T>(&self, call: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let late = || "its server is too slow".to_owned();
        if self.is_given_up() {
            return Err(late());
        }
        let deadline = self.deadline.min(Instant::now() + BUNDLE);
        timeout_at(deadline, call).await.unwrap_or_else(|_| {
            self.given_up.store(true, Ordering::Relaxed);
            Err(late())
        })
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

impl Source {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot) && self.facts == other.facts
    }
}

/// The bundles at the heads of a package's channels, each with a channel that it is found under.
fn wanted(snapshot: &CatalogSnapshot, package: &str) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut wanted = BTreeMap::new();
    let summary = snapshot.packages().get(package);
    for (channel, summary) in summary.into_iter().flat_map(|summary| &summary.channels) {
        wanted.entry(Arc::clone(&summary.head)).or_insert_with(|| Arc::clone(channel));
    }
    wanted
}

fn pack(source: &Source, name: &str, heads: &Heads) -> Option<Arc<StoredPackage>> {
    let snapshot = &source.snapshot;
    let summary = snapshot.packages().get(name)?;
    let made = manifest(&source.facts, name, summary, snapshot.package(name), heads).ok()?;
    StoredPackage::new(made).ok().map(Arc::new)
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
