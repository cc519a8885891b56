//! The catalogs that are connected, and what is known of their content.
//!
//! One connection and one snapshot per CatalogSource. Changes of a connection and of a snapshot
//! are reported to a listener; nothing polls. The last snapshot is kept while its catalog is away;
//! whether it stays in use is a matter of [`UnhealthyCatalogs`].

mod budget;
mod follow;
mod known;
mod policy;
mod served;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use futures::{StreamExt, TryStreamExt, stream};
use olm_catalog::connection::{BundleManifests, CatalogConnection};
use olm_catalog::registry::client::{AddressError, ClientOptions, RegistryClient};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_lifecycle::catalog_source::{Connection, Content as ContentFacts};
use olm_types::bundle::{CatalogKey, Entry};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

pub use budget::{Budget, BudgetLimits, OverBudget, Part};
pub use policy::UnhealthyCatalogs;

use crate::slots::{SlotLimits, Slots};
use served::Served;

/// Catalogs that are read at the same time.
const READ_AT_ONCE: SlotLimits = SlotLimits { each: 4, all: 16, global: 16 };

/// How long all bundles of one plan may take together.
const BUNDLES: Duration = Duration::from_secs(60);
/// Bundles of one plan that are fetched at the same time.
const AT_ONCE: usize = 4;
/// Most bytes of the bundles of one plan. An InstallPlan, into which all of them go, has 3 MiB at most.
const BUNDLES_BYTES: usize = 32 << 20;

/// What is known of a catalog's content.
#[derive(Clone, Debug)]
pub enum Content {
    /// It was not looked at yet, or is being connected or loaded; a change will be reported.
    Waiting,
    /// It is loaded.
    Loaded(Arc<CatalogSnapshot>),
    /// It is unavailable, and why.
    Unavailable(String),
}

/// What changed about a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogChange {
    /// The state of its connection.
    State,
    /// Its content was loaded and is another one than before, or a resolution waited for it.
    Loaded,
    /// Its content was loaded and is what it was before.
    Unchanged,
    /// Its content became unavailable.
    Lost,
}

type Listener = Arc<dyn Fn(&CatalogKey, CatalogChange) + Send + Sync>;
type Connect =
    dyn Fn(CatalogKey, &str) -> Result<Arc<dyn CatalogConnection>, AddressError> + Send + Sync;

/// All catalogs that were looked at. Clones share them.
#[derive(Clone)]
pub struct Catalogs {
    /// The connection, or nothing for a catalog that cannot have one.
    served: Arc<DashMap<CatalogKey, Option<Served>>>,
    connect: Arc<Connect>,
    listener: Listener,
    unhealthy: UnhealthyCatalogs,
    budget: Arc<Budget>,
    slots: Slots,
}

impl Catalogs {
    /// No catalogs yet; `listener` is notified of changes and must be quick.
    pub fn new(
        options: ClientOptions,
        listener: impl Fn(&CatalogKey, CatalogChange) + Send + Sync + 'static,
    ) -> Self {
        Self::with_connect(listener, move |key, address| {
            let client = RegistryClient::open(key, address, options.clone())?;
            Ok(Arc::new(client) as Arc<dyn CatalogConnection>)
        })
    }

    /// Treats catalogs that are away in another way than by default.
    #[must_use]
    pub fn unhealthy(self, unhealthy: UnhealthyCatalogs) -> Self {
        Self { unhealthy, ..self }
    }

    /// Keeps what `budget` allows.
    #[must_use]
    pub fn budget(self, budget: Arc<Budget>) -> Self {
        Self { budget, ..self }
    }

    /// The catalogs of this namespace are seen everywhere, and do not wait for others to be read.
    #[must_use]
    pub fn global_namespace(self, namespace: &str) -> Self {
        Self { slots: Slots::new(namespace, READ_AT_ONCE), ..self }
    }

    /// The same with another way to connect.
    pub fn with_connect<L, C>(listener: L, connect: C) -> Self
    where
        L: Fn(&CatalogKey, CatalogChange) + Send + Sync + 'static,
        C: Fn(CatalogKey, &str) -> Result<Arc<dyn CatalogConnection>, AddressError>
            + Send
            + Sync
            + 'static,
    {
        Self {
            served: Arc::default(),
            connect: Arc::new(connect),
            listener: Arc::new(listener),
            unhealthy: UnhealthyCatalogs::default(),
            budget: Arc::new(Budget::new(BudgetLimits::default(), "")),
            slots: Slots::new("", READ_AT_ONCE),
        }
    }

    /// Connects a catalog to `address`. A connection that goes there already is left alone.
    ///
    /// # Errors
    /// The address has not the form `host:port`; the catalog is then not connected at all.
    pub fn connect(&self, key: &CatalogKey, address: &str) -> Result<(), AddressError> {
        if self.with(key, |served| served.leads_to(address)) == Some(true) {
            return Ok(());
        }
        let connection =
            (self.connect)(key.clone(), address).inspect_err(|_| self.disconnect(key))?;
        self.begin(key, Served::new(address, connection, self.unhealthy));
        Ok(())
    }

    /// Connects a catalog to what this process serves itself, under the address at which others find
    /// it. The same connection is left alone.
    pub fn attach(&self, key: &CatalogKey, address: &str, connection: Arc<dyn CatalogConnection>) {
        let same = |served: &Served| Arc::ptr_eq(&served.connection(), &connection);
        if self.with(key, same) != Some(true) {
            self.begin(key, Served::attached(address, connection, self.unhealthy));
        }
    }

    fn begin(&self, key: &CatalogKey, served: Served) {
        self.budget.release(key, Part::Content);
        served.follow(Arc::clone(&self.budget), Arc::clone(&self.listener), self.slots.clone());
        self.served.insert(key.clone(), Some(served));
    }

    /// Ends the connection of a catalog that cannot have one any more, or never could.
    pub fn disconnect(&self, key: &CatalogKey) {
        let before = self.served.insert(key.clone(), None);
        self.budget.release(key, Part::Content);
        if !matches!(before, Some(None)) {
            (self.listener)(key, CatalogChange::Lost);
        }
    }

    /// Forgets a catalog that does not exist.
    pub fn forget(&self, key: &CatalogKey) {
        self.served.remove(key);
        self.budget.release(key, Part::Content);
    }

    /// Frees memory for the packages of a catalog.
    ///
    /// # Errors
    /// There is not so much.
    pub fn keep_packages(&self, key: &CatalogKey, bytes: usize) -> Result<(), OverBudget> {
        self.budget.keep(key, Part::Packages, bytes)
    }

    /// The packages of a catalog are not kept any more.
    pub fn release_packages(&self, key: &CatalogKey) {
        self.budget.release(key, Part::Packages);
    }

    /// Says at a catalog why packages of it are not shown; nothing when all are.
    pub fn note_hidden(&self, key: &CatalogKey, reason: Option<String>) {
        if self.with(key, |served| served.note_hidden(reason)) == Some(true) {
            (self.listener)(key, CatalogChange::State);
        }
    }

    /// The connection of a catalog, if it has one.
    pub fn connection(&self, key: &CatalogKey) -> Option<Connection> {
        self.with(key, Served::connection_state)
    }

    /// Whether a catalog that cannot be used stops the namespaces that see it.
    pub fn block(&self) -> bool {
        self.unhealthy.blocks()
    }

    /// What the status of a catalog says about its content.
    pub fn facts(&self, key: &CatalogKey) -> ContentFacts {
        self.with(key, Served::facts).unwrap_or_default()
    }

    /// The content of a catalog. A catalog without a connection has none (spec catalog-operator
    /// 3.1); one that exists and was not looked at yet, as after a start of this process, may still
    /// get one.
    pub fn content(&self, key: &CatalogKey) -> Content {
        match self.served.get(key).as_deref() {
            Some(Some(served)) => served.content(),
            Some(None) => Content::Unavailable(format!(
                "no registry client established for catalogsource {key}"
            )),
            None => Content::Waiting,
        }
    }

    fn with<T>(&self, key: &CatalogKey, read: impl FnOnce(&Served) -> T) -> Option<T> {
        self.served.get(key)?.as_ref().map(read)
    }

    /// Fetches the manifests of a bundle.
    ///
    /// # Errors
    /// The catalog is not connected, or its server does not give the bundle; the text says which.
    pub async fn bundle(
        &self,
        key: &CatalogKey,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<BundleManifests, String> {
        let connection = self.with(key, Served::connection);
        let Some(connection) = connection else {
            return Err(format!("no registry client established for catalogsource {key}"));
        };
        connection.bundle(package, channel, name).await.map_err(|error| error.to_string())
    }

    /// Fetches the manifests of bundles, in this order; all of them share one deadline.
    ///
    /// # Errors
    /// As [`Self::bundle`], of the first bundle that there is none of; the text names it. Or the
    /// time is over, or they are larger than a plan can be.
    pub async fn bundles(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<BundleManifests>, String> {
        let deadline = Instant::now() + BUNDLES;
        let fetch = |entry: Arc<Entry>| {
            let me = self.clone();
            async move { me.bundle_of(&entry, deadline).await }
        };
        let fetched = stream::iter(entries).map(fetch).buffered(AT_ONCE);
        let all = fetched.try_fold((Vec::new(), 0_usize), |(mut all, bytes), bundle| async move {
            let bytes = bytes.saturating_add(bundle.bytes());
            if bytes > BUNDLES_BYTES {
                return Err(too_large(&bundle.name));
            }
            all.push(bundle);
            Ok((all, bytes))
        });
        all.await.map(|(all, _)| all)
    }

    async fn bundle_of(&self, entry: &Entry, deadline: Instant) -> Result<BundleManifests, String> {
        let (catalog, name) = (&entry.catalog, &entry.name);
        let fetched = self.bundle(catalog, &entry.package, &entry.channel, name);
        let fetched = timeout_at(deadline, fetched).await.unwrap_or_else(|_| Err(late()));
        fetched
            .map_err(|error| format!("error using catalogsource {catalog}: bundle {name}: {error}"))
    }

    /// What is known, for the diagnostics endpoint.
    pub fn dump(&self) -> Value {
        let dump = |served: &Option<Served>| served.as_ref().map(Served::dump);
        let mut all: Vec<_> =
            self.served.iter().map(|entry| (entry.key().clone(), dump(entry.value()))).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.into_iter().map(|(key, state)| (key.to_string(), json!(state))).collect()
    }
}

fn too_large(bundle: &str) -> String {
    format!(
        "the bundles of the plan, as of {bundle}, have more than {BUNDLES_BYTES} bytes together, and no \
         InstallPlan takes so many; create Subscriptions for fewer operators at a time"
    )
}

fn late() -> String {
    format!(
        "its server is too slow: the bundles of a plan may take {} s together",
        BUNDLES.as_secs()
    )
}
