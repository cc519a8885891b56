//! The watches of a process, each named once.

use std::fmt::Debug;
use std::sync::Arc;

use kube::{Api, Client, Resource};
use olm_effect::Resource as Kind;
use serde::de::DeserializeOwned;

use super::{Cached, Config, Store, Watch, WatchBuilder, WrittenStore};
use crate::interpreter::Interpreter;
use crate::metrics::WatchMetrics;
use crate::tasks::Tasks;

/// How a watch starts.
type Start = Box<dyn FnOnce(&Tasks) + Send>;

/// Watches on the whole cluster, before they start. What an interpreter writes is handed to their stores.
pub struct WatchSet {
    client: Client,
    metrics: WatchMetrics,
    starts: Vec<Start>,
    stores: Vec<(Kind, Arc<dyn WrittenStore>)>,
}

impl WatchSet {
    /// No watch yet; those that are added count into `metrics`.
    pub fn new(client: &Client, metrics: &WatchMetrics) -> Self {
        let (client, metrics) = (client.clone(), metrics.clone());
        Self { client, metrics, starts: Vec::new(), stores: Vec::new() }
    }

    /// Adds a watch on all objects of a kind, and returns the store that it will fill.
    pub fn all<K>(&mut self) -> Store<K>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    {
        self.add(Config::default(), |watch| watch)
    }

    /// The same for the objects that `config` selects; `set_up` says what is kept of them.
    pub fn add<K>(
        &mut self,
        config: Config,
        set_up: impl FnOnce(WatchBuilder<K>) -> WatchBuilder<K>,
    ) -> Store<K>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    {
        self.condensed(config, set_up)
    }

    /// The same where a `T` is kept of each object.
    pub fn condensed<K, T>(
        &mut self,
        config: Config,
        set_up: impl FnOnce(WatchBuilder<K, T>) -> WatchBuilder<K, T>,
    ) -> Store<T>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
        T: From<K> + Cached + DeserializeOwned + Send + Sync + 'static,
    {
        let watch = Watch::condensed(Api::all(self.client.clone()), config);
        let watch = set_up(watch.metrics(self.metrics.clone()));
        let store = watch.store();
        let kind = Kind::new(&K::group(&()), &K::version(&()), &K::kind(&()), &K::plural(&()));
        self.stores.push((kind, Arc::new(store.clone())));
        self.starts.push(Box::new(|tasks| drop(watch.start(tasks))));
        store
    }

    /// Hands what the interpreter writes to all stores.
    #[must_use]
    pub fn follow(&self, interpreter: Interpreter) -> Interpreter {
        let hand = |to: Interpreter, (kind, store): &(Kind, Arc<dyn WrittenStore>)| {
            to.with_shared_store(kind.clone(), Arc::clone(store))
        };
        self.stores.iter().fold(interpreter, hand)
    }

    /// Starts all watches.
    pub fn start(self, tasks: &Tasks) {
        self.starts.into_iter().for_each(|start| start(tasks));
    }
}
