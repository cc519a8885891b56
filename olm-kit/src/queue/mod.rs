//! A work queue of keys.
//!
//! Invariants: a key that is added many times before it is taken is taken once; a key is never
//! held by two workers at the same time; a key that is added while a worker holds it is taken
//! again afterwards. Keys of a namespace leave in the order in which they became due, and namespaces take
//! turns (`ready`).
//!
//! Failures are counted per key and delay the next try: 5 ms, doubling up to one minute. Version 0
//! of OLM goes up to 1000 s and gives up after eight tries; a user who repaired the cause would
//! then wait for a quarter of an hour or for the next resync, so we neither wait that long nor
//! give up. There is no jitter: each key has its own clock already.

mod backoff;
mod ready;
mod state;
#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::cause;
use crate::key::QueueKey;
use backoff::Failures;
pub use backoff::{BACKOFF_CAP, BACKOFF_START};
use ready::Due;
use state::{State, Take};

/// A coalescing queue of keys with delays and per-key back-off. Clones share the same queue.
pub struct Queue<Key: Eq + Hash> {
    shared: Arc<Shared<Key>>,
}

struct Shared<Key: Eq + Hash> {
    state: Mutex<State<Key>>,
    changed: Notify,
    failures: Failures<Key>,
    retries: AtomicUsize,
}

/// A key that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken<Key> {
    /// The key.
    pub key: Key,
    /// For how long it was due.
    pub waited: Duration,
    /// What asked for it first: the kind of an object that changed, `time`, or `other`.
    pub cause: &'static str,
}

/// How a queue is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct QueueFigures {
    /// Keys that are due and not yet taken.
    pub due: usize,
    /// Keys that wait for their time.
    pub delayed: usize,
    /// Keys that workers hold.
    pub running: usize,
    /// Keys whose last try failed.
    pub failing: usize,
    /// How often a key became due since the process started.
    pub adds: usize,
    /// How often a key was put back after a failure.
    pub retries: usize,
    /// For how long the oldest due key is waiting for a worker.
    pub oldest_seconds: f64,
    /// For how long workers hold their keys, added up.
    pub unfinished_seconds: f64,
    /// For how long the slowest of them holds its key.
    pub longest_seconds: f64,
}

impl<Key: QueueKey> Queue<Key> {
    /// An empty queue.
    pub fn new() -> Self {
        let shared = Shared {
            state: Mutex::new(State::default()),
            changed: Notify::new(),
            failures: Failures::default(),
            retries: AtomicUsize::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Makes `key` due now.
    pub fn add(&self, key: Key) {
        let due = Due { since: Instant::now(), cause: cause::current() };
        self.shared.state.lock().add(key, due);
        self.shared.changed.notify_one();
    }

    /// Makes `key` due after `delay`. Of several delays of one key the earliest wins; a key that
    /// is due now keeps its delayed turn besides.
    pub fn add_after(&self, key: Key, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        self.shared.state.lock().add_at(key, Instant::now() + delay);
        self.shared.changed.notify_one();
    }

    /// Counts a failure of `key` and makes it due after its back-off, which is returned.
    pub fn retry(&self, key: Key) -> Duration {
        let delay = self.shared.failures.next_delay(&key);
        self.shared.retries.fetch_add(1, Ordering::Relaxed);
        self.add_after(key, delay);
        delay
    }

    /// Forgets the failures of `key`, so that its next failure starts at the shortest delay.
    pub fn forget(&self, key: &Key) {
        self.shared.failures.forget(key);
    }

    /// Failures of `key` in a row.
    pub fn failures(&self, key: &Key) -> u32 {
        self.shared.failures.count(key)
    }

    /// Waits until a key is due and takes it; see [`Self::take`].
    pub async fn next(&self) -> Key {
        self.take().await.key
    }

    /// Waits until a key is due and takes it. The caller must hand it back with
    /// [`Self::done`]. Dropping the future loses no key.
    pub async fn take(&self) -> Taken<Key> {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let now = Instant::now();
            let taken = self.shared.state.lock().take(now);
            match taken {
                Take::Key(key, Due { since, cause }, more) => {
                    if more {
                        self.shared.changed.notify_one();
                    }
                    let waited = now.saturating_duration_since(since);
                    return Taken { key, waited, cause };
                }
                Take::Until(due) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(due) => {}
                },
                Take::Empty => changed.await,
            }
        }
    }

    /// Hands back a key that [`Self::next`] gave out.
    pub fn done(&self, key: &Key) {
        if self.shared.state.lock().done(key) {
            self.shared.changed.notify_one();
        }
    }

    /// How it is doing now.
    pub fn figures(&self) -> QueueFigures {
        let figures = self.shared.state.lock().figures(Instant::now());
        let retries = self.shared.retries.load(Ordering::Relaxed);
        QueueFigures { failing: self.shared.failures.len(), retries, ..figures }
    }

    /// Number of keys that are due and not yet taken.
    pub fn len(&self) -> usize {
        self.shared.state.lock().due()
    }

    /// Whether no key is due.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of keys that wait for their time.
    pub fn delayed(&self) -> usize {
        self.shared.state.lock().delayed()
    }

    /// Number of keys that workers hold.
    pub fn running(&self) -> usize {
        self.shared.state.lock().running()
    }
}

impl<Key: QueueKey> Default for Queue<Key> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Key: Eq + Hash> Clone for Queue<Key> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}
