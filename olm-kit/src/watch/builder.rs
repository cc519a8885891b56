//! How a watch is set up.

use kube::core::ApiResource;
use kube::runtime::watcher;
use kube::{Api, Client, Resource};
use olm_pages::paged;
use serde::de::DeserializeOwned;

use super::fill::Filled;
use super::follow::Follower;
use super::intake::{Admits, Intake, Predicate, Strip};
use super::{Cached, Change, Store};
use crate::client::{Fields, without};
use crate::metrics::WatchMetrics;
use crate::tasks::Tasks;

/// Entry point of [`WatchBuilder`].
#[derive(Debug)]
pub struct Watch;

/// A watch on objects `K`, of each of which a `T` is kept, that is not started yet.
pub struct WatchBuilder<K: Resource, T = K> {
    client: Client,
    namespace: Option<String>,
    dynamic: K::DynamicType,
    config: watcher::Config,
    store: Store<T>,
    strip: Option<Strip<T>>,
    admits: Option<Predicate<T>>,
    metrics: Option<WatchMetrics>,
    without: Option<Fields>,
}

impl Watch {
    /// A watch on what `api` covers: one namespace or the cluster. `Api<PartialObjectMeta<K>>`
    /// makes it a metadata-only watch.
    pub fn builder<K>(api: Api<K>, config: watcher::Config) -> WatchBuilder<K>
    where
        K: Resource<DynamicType: Default>,
    {
        Self::dynamic(api, K::DynamicType::default(), config)
    }

    /// A watch that keeps of each object what `T` makes of it.
    pub fn condensed<K, T: From<K> + Cached>(
        api: Api<K>,
        config: watcher::Config,
    ) -> WatchBuilder<K, T>
    where
        K: Resource<DynamicType: Default>,
    {
        WatchBuilder::new(api, K::DynamicType::default(), config)
    }

    /// A watch on a kind that is only known at run time.
    pub fn dynamic<K: Resource>(
        api: Api<K>,
        dynamic: K::DynamicType,
        config: watcher::Config,
    ) -> WatchBuilder<K> {
        WatchBuilder::new(api, dynamic, config)
    }
}

impl<K: Resource, T: From<K> + Cached> WatchBuilder<K, T> {
    fn new(api: Api<K>, dynamic: K::DynamicType, config: watcher::Config) -> Self {
        Self {
            namespace: api.namespace().map(str::to_owned),
            client: api.into_client(),
            dynamic,
            config,
            store: Store::new(),
            strip: None,
            admits: None,
            metrics: None,
            without: None,
        }
    }

    /// Leaves these fields out while objects arrive, so that they take no memory at all; for large ones
    /// that [`Self::strip`] drops from what the process wrote itself.
    #[must_use]
    pub fn without(mut self, fields: Fields) -> Self {
        self.without = Some(fields);
        self
    }

    /// Drops what is not read before an object is stored. `managedFields` go in any case.
    #[must_use]
    pub fn strip(mut self, strip: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.strip = Some(Box::new(strip));
        self
    }

    /// Calls `listener` for every change; see [`Store::on_change`].
    #[must_use]
    pub fn on_change(self, listener: impl Fn(&Change<T>) + Send + Sync + 'static) -> Self {
        self.store.on_change(listener);
        self
    }

    /// Says which written objects the selector of this watch matches. Without it, a watch with a
    /// selector absorbs only new versions of objects it has.
    #[must_use]
    pub fn admit(mut self, admits: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        self.admits = Some(Box::new(admits));
        self
    }

    /// Counts into `metrics`.
    #[must_use]
    pub fn metrics(mut self, metrics: WatchMetrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// The store that this watch will fill, for listeners of other watches.
    pub fn store(&self) -> Store<T> {
        self.store.clone()
    }
}

impl<K, T> WatchBuilder<K, T>
where
    K: Resource + DeserializeOwned + 'static,
    T: From<K> + Cached + Send + Sync + 'static,
{
    /// Starts the watch as a critical task. Readiness waits for its first list.
    pub fn start(self, tasks: &Tasks) -> Store<T> {
        let kind = K::kind(&self.dynamic).into_owned();
        let selector = self.config.label_selector.as_deref().unwrap_or_default();
        let name = format!("watch {kind} {selector}").trim_end().to_owned();
        let store = self.store.clone();
        if let Some(metrics) = &self.metrics {
            let store = store.clone();
            metrics.watch(&kind, selector, move || store.figures());
        }
        store.set_intake(Intake { strip: self.strip, admits: admits(self.admits, &self.config) });
        let client =
            self.without.map_or(self.client.clone(), |fields| without(&self.client, &fields));
        let follower = Follower {
            client: paged(&client),
            namespace: self.namespace,
            resource: ApiResource::erase::<K>(&self.dynamic),
            target: Box::new(Filled::<K, T>::new(self.store)),
            gate: tasks.readiness().gate(&name),
            metrics: self.metrics,
        };
        let (config, token) = (self.config, tasks.token());
        if K::metadata_api() {
            tasks.spawn(&name, follower.run::<true>(config, token));
        } else {
            tasks.spawn(&name, follower.run::<false>(config, token));
        }
        store
    }
}

fn admits<T>(predicate: Option<Predicate<T>>, config: &watcher::Config) -> Admits<T> {
    let selective = config.label_selector.is_some() || config.field_selector.is_some();
    match predicate {
        Some(predicate) => Admits::If(predicate),
        None if selective => Admits::Known,
        None => Admits::All,
    }
}
