//! The queue as a plain value: every transition is synchronous and takes the time as an argument.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

/// Which keys are due, taken or waiting.
#[derive(Debug)]
pub(super) struct State<Key> {
    /// Due keys in order; the same keys as `queued`.
    ready: VecDeque<Key>,
    queued: BTreeSet<Key>,
    /// Keys that a worker holds.
    running: BTreeSet<Key>,
    /// Keys that became due while a worker holds them.
    dirty: BTreeSet<Key>,
    /// Keys by the time at which they become due; the same pairs as `times`.
    waiting: BTreeSet<(Instant, Key)>,
    times: BTreeMap<Key, Instant>,
}

/// What a worker gets.
#[derive(Debug, PartialEq)]
pub(super) enum Take<Key> {
    /// A key, and whether another worker has a reason to look.
    Key(Key, bool),
    /// Nothing before this time.
    Until(Instant),
    /// Nothing until something is added.
    Empty,
}

impl<Key> Default for State<Key> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: BTreeSet::new(),
            running: BTreeSet::new(),
            dirty: BTreeSet::new(),
            waiting: BTreeSet::new(),
            times: BTreeMap::new(),
        }
    }
}

impl<Key: Clone + Ord> State<Key> {
    pub(super) fn add(&mut self, key: Key) {
        if self.running.contains(&key) {
            self.dirty.insert(key);
        } else if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    pub(super) fn add_at(&mut self, key: Key, due: Instant) {
        if let Some(earlier) = self.times.get(&key).copied() {
            if earlier <= due {
                return;
            }
            self.waiting.remove(&(earlier, key.clone()));
        }
        self.times.insert(key.clone(), due);
        self.waiting.insert((due, key));
    }

    pub(super) fn take(&mut self, now: Instant) -> Take<Key> {
        self.ripen(now);
        let Some(key) = self.ready.pop_front() else {
            return self.waiting.first().map_or(Take::Empty, |(due, _)| Take::Until(*due));
        };
        self.queued.remove(&key);
        self.running.insert(key.clone());
        Take::Key(key, !self.ready.is_empty() || !self.waiting.is_empty())
    }

    /// Ends a worker's hold; true when the key is due again.
    pub(super) fn done(&mut self, key: &Key) -> bool {
        self.running.remove(key);
        let again = self.dirty.remove(key);
        if again {
            self.add(key.clone());
        }
        again
    }

    pub(super) fn due(&self) -> usize {
        self.ready.len() + self.dirty.len()
    }

    pub(super) fn delayed(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Moves the keys whose time has come to the due ones.
    fn ripen(&mut self, now: Instant) {
        while self.waiting.first().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, key)) = self.waiting.pop_first() {
                self.times.remove(&key);
                self.add(key);
            }
        }
    }
}
