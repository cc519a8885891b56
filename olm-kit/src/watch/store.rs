//! A shared, ordered view of all objects of one kind.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use super::cache::{Cache, Malformed, Unconfirmed};
use super::intake::{Admits, Intake};
use super::{Cached, Change};
use crate::ObjectKey;
use crate::cause;
use crate::metrics::WatchFigures;

/// All objects of one kind that a watch sees, ordered by namespace and name. Clones share the
/// content. Reading never waits for a listener.
pub struct Store<K> {
    inner: Arc<Inner<K>>,
}

type Listener<K> = Box<dyn Fn(&Change<K>) + Send + Sync>;

struct Inner<K> {
    cache: RwLock<Cache<K>>,
    /// Held while a change is made and reported, so that listeners see changes in order.
    writing: Mutex<()>,
    listeners: RwLock<Vec<Listener<K>>>,
    intake: OnceLock<Intake<K>>,
    synced: watch::Sender<bool>,
}

impl<K: Cached> Store<K> {
    /// An empty store that no watch fills.
    pub fn new() -> Self {
        let inner = Inner {
            cache: RwLock::new(Cache::default()),
            writing: Mutex::new(()),
            listeners: RwLock::new(Vec::new()),
            intake: OnceLock::new(),
            synced: watch::Sender::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A store with fixed content, for tests of what reads from it.
    pub fn with_objects(objects: impl IntoIterator<Item = K>) -> Self {
        let store = Self::new();
        store.begin_list();
        objects.into_iter().for_each(|object| store.list_one(object));
        store.end_list();
        store
    }

    /// The object of this name; `namespace` is `None` for cluster-scoped kinds.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<Arc<K>> {
        self.inner.cache.read().get(&(namespace, name)).cloned()
    }

    /// The object of this key.
    pub fn get_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.inner.cache.read().get(key).cloned()
    }

    /// All objects, ordered by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.inner.cache.read().iter().cloned().collect()
    }

    /// All objects of one namespace, ordered by name.
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<K>> {
        self.inner.cache.read().iter_in(namespace).cloned().collect()
    }

    /// The objects for which `predicate` holds, ordered by namespace and name.
    pub fn list_where(&self, predicate: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        let cache = self.inner.cache.read();
        cache.iter().filter(|object| predicate(object)).cloned().collect()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.inner.cache.read().len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Objects that exist but cannot be read; their last good version, if any, is still listed.
    pub fn malformed(&self) -> Vec<(ObjectKey, Malformed)> {
        let cache = self.inner.cache.read();
        cache.malformed().iter().map(|(key, why)| (key.clone(), why.clone())).collect()
    }

    pub(super) fn figures(&self) -> WatchFigures {
        let cache = self.inner.cache.read();
        let (objects, malformed) = (cache.len(), cache.malformed().len());
        WatchFigures { objects, malformed, synced: self.is_synced() }
    }

    /// Calls `listener` for every change from now on, in order, one call at a time. The listener
    /// may read any store, must be quick, and must neither absorb into this one nor add listeners.
    pub fn on_change(&self, listener: impl Fn(&Change<K>) + Send + Sync + 'static) {
        self.inner.listeners.write().push(Box::new(listener));
    }

    /// Takes an object that the process wrote, so that it sees its own writes before the watch
    /// reports them. Older versions and deleted objects are ignored.
    pub fn insert_written(&self, object: K) {
        if self.admits(&object) {
            self.change(|cache, object| cache.insert_written(object), object);
        }
    }

    /// Takes an object that the process wrote, and that is gone with that.
    pub(super) fn remove_written(&self, object: K) {
        if self.admits(&object) {
            self.change(|cache, object| cache.remove_written(&object), object);
        }
    }

    /// The version at which an object was seen deleted, if it is not there again.
    pub(super) fn deleted_at(&self, namespace: Option<&str>, name: &str) -> Option<String> {
        self.inner.cache.read().deleted_at(namespace, name)
    }

    /// Takes an object out of a store that no watch fills, for tests of what listens.
    pub fn remove(&self, namespace: Option<&str>, name: &str) {
        let _guard = self.inner.writing.lock();
        let change = self.inner.cache.write().take(&(namespace, name));
        self.report(change.iter());
    }

    /// Waits until the first list is complete.
    pub async fn synced(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.inner.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// Whether the first list is complete.
    pub fn is_synced(&self) -> bool {
        *self.inner.synced.borrow()
    }

    pub(super) fn set_intake(&self, intake: Intake<K>) {
        // Only the builder calls this, once per store.
        let _ = self.inner.intake.set(intake);
    }

    pub(super) fn apply(&self, object: K) {
        self.change(|cache, object| cache.apply(object), object);
    }

    /// Whether this version of an object is here. The watch has reported it then.
    pub(super) fn confirm(&self, namespace: Option<&str>, name: &str, version: &str) -> bool {
        let _guard = self.inner.writing.lock();
        self.inner.cache.write().confirm_version(namespace, name, version)
    }

    pub(super) fn list_one(&self, object: K) {
        self.change(|cache, object| cache.list(object), object);
    }

    pub(super) fn delete(&self, meta: &kube::core::ObjectMeta) {
        let _guard = self.inner.writing.lock();
        let change = self.inner.cache.write().delete(meta);
        self.report(change.iter());
    }

    pub(super) fn reject(&self, meta: &kube::core::ObjectMeta, error: String) -> bool {
        self.inner.cache.write().reject(meta, error)
    }

    pub(super) fn begin_list(&self) {
        self.inner.cache.write().begin_list();
    }

    pub(super) fn end_list(&self) {
        let _guard = self.inner.writing.lock();
        let gone = self.inner.cache.write().end_list();
        self.report(gone.iter());
        self.inner.synced.send_replace(true);
    }

    pub(super) fn unconfirmed(&self) -> BTreeSet<Unconfirmed> {
        self.inner.cache.read().unconfirmed()
    }

    pub(super) fn drop_unconfirmed(&self, suspect: &Unconfirmed) {
        let _guard = self.inner.writing.lock();
        let change = self.inner.cache.write().drop_unconfirmed(suspect);
        self.report(change.iter());
    }

    fn admits(&self, object: &K) -> bool {
        match self.inner.intake.get().map(|intake| &intake.admits) {
            None | Some(Admits::All) => true,
            Some(Admits::Known) => self.get_key(&ObjectKey::of(object)).is_some(),
            Some(Admits::If(predicate)) => predicate(object),
        }
    }

    fn change(&self, make: impl FnOnce(&mut Cache<K>, K) -> Option<Change<K>>, mut object: K) {
        object.drop_managed_fields();
        if let Some(strip) = self.inner.intake.get().and_then(|intake| intake.strip.as_ref()) {
            strip(&mut object);
        }
        let _guard = self.inner.writing.lock();
        let change = make(&mut self.inner.cache.write(), object);
        self.report(change.iter());
    }

    fn report<'c>(&self, changes: impl Iterator<Item = &'c Change<K>>)
    where
        K: 'c,
    {
        let listeners = self.inner.listeners.read();
        cause::changing::<K>(|| {
            for change in changes {
                listeners.iter().for_each(|listener| listener(change));
            }
        });
    }
}

impl<K: Cached> Default for Store<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}
