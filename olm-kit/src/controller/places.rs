//! Places for reconciles that take long, beside the workers.
//!
//! A reconcile may wait for servers that others run: catalogs, image registries, conversion
//! webhooks. Its worker waits with it for a moment only; then the reconcile goes on by itself. Its
//! key stays taken, so that the promises of the queue hold: no second reconcile of the key begins,
//! and what changed meanwhile brings the key back when the first one has ended.
//!
//! Each namespace has a few places, so that one whose servers are slow holds up no other; while they
//! are taken, its keys are parked. There are so many in all, and some more for one namespace that
//! comes first: that of global catalogs. While all are taken, workers wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::key::QueueKey;
use crate::queue::Queue;

/// How many reconciles may go on beside the workers of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelReconciles {
    /// How long a worker waits with a reconcile.
    pub time_limit: Duration,
    /// Places of each namespace.
    pub each: usize,
    /// Places of all namespaces but the first.
    pub all: usize,
    /// A namespace with as many places as all others together.
    pub first: Option<String>,
}

impl Default for ParallelReconciles {
    /// Half a second is more than servers need that are well.
    fn default() -> Self {
        Self { time_limit: Duration::from_millis(500), each: 2, all: 24, first: None }
    }
}

/// The places of one controller. Clones share them.
pub(super) struct ParallelLimit<Key: QueueKey> {
    limits: Arc<ParallelReconciles>,
    queue: Queue<Key>,
    state: Arc<Mutex<State<Key>>>,
}

/// A place that is taken until this is dropped.
pub(super) struct ReconcileSlot<Key: QueueKey> {
    namespace: String,
    of: ParallelLimit<Key>,
}

struct State<Key> {
    /// Taken places by namespace.
    taken: BTreeMap<String, usize>,
    /// Keys that wait until their namespace has a place, by namespace.
    parked: BTreeMap<String, BTreeSet<Key>>,
}

impl<Key: QueueKey> ParallelLimit<Key> {
    pub(super) fn new(limits: ParallelReconciles, queue: &Queue<Key>) -> Self {
        let state = State { taken: BTreeMap::new(), parked: BTreeMap::new() };
        Self { limits: Arc::new(limits), queue: queue.clone(), state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn time_limit(&self) -> Duration {
        self.limits.time_limit
    }

    /// Parks a key whose namespace has no place left; it is added to the queue when there is one.
    pub(super) fn defer(&self, key: &Key) -> bool {
        let (namespace, mut state) = (namespace(key), self.state.lock());
        let full = state.taken_by(namespace) >= self.most(namespace);
        if full {
            state.parked.entry(namespace.to_owned()).or_default().insert(key.clone());
        }
        full
    }

    /// A place for the reconcile of a key, if one is free.
    pub(super) fn enter(&self, key: &Key) -> Option<ReconcileSlot<Key>> {
        let (namespace, mut state) = (namespace(key), self.state.lock());
        let is_first = self.is_first(namespace);
        let others = state.taken.iter().filter(|(other, _)| !self.is_first(other));
        let has_place = is_first || others.map(|(_, taken)| taken).sum::<usize>() < self.limits.all;
        if !has_place || state.taken_by(namespace) >= self.most(namespace) {
            return None;
        }
        *state.taken.entry(namespace.to_owned()).or_default() += 1;
        Some(ReconcileSlot { namespace: namespace.to_owned(), of: self.clone() })
    }

    fn most(&self, namespace: &str) -> usize {
        if self.is_first(namespace) { self.limits.all } else { self.limits.each }
    }

    fn is_first(&self, namespace: &str) -> bool {
        self.limits.first.as_deref() == Some(namespace)
    }

    /// Gives a place back, and returns the keys that waited for one.
    fn leave(&self, namespace: &str) -> BTreeSet<Key> {
        let mut state = self.state.lock();
        if let Some(taken) = state.taken.get_mut(namespace) {
            *taken -= 1;
            if *taken == 0 {
                state.taken.remove(namespace);
            }
        }
        // All of them: the first one may end at once, and would then wake no other.
        state.parked.remove(namespace).unwrap_or_default()
    }
}

impl<Key> State<Key> {
    fn taken_by(&self, namespace: &str) -> usize {
        self.taken.get(namespace).copied().unwrap_or_default()
    }
}

impl<Key: QueueKey> Clone for ParallelLimit<Key> {
    fn clone(&self) -> Self {
        Self {
            limits: Arc::clone(&self.limits),
            queue: self.queue.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

impl<Key: QueueKey> Drop for ReconcileSlot<Key> {
    fn drop(&mut self) {
        self.of.leave(&self.namespace).into_iter().for_each(|key| self.of.queue.add(key));
    }
}

/// The namespace of a key; a key without one stands for a namespace itself.
fn namespace<Key: QueueKey>(key: &Key) -> &str {
    match key.namespace() {
        "" => key.name(),
        namespace => namespace,
    }
}
