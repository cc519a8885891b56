//! The queue as a plain value: every transition is synchronous and takes the time as an argument.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::QueueFigures;
use super::ready::{Due, Ready};
use crate::cause;
use crate::key::QueueKey;

/// Which keys are due, taken or waiting.
#[derive(Debug)]
pub(super) struct State<Key> {
    /// Due keys; the same keys as `queued`.
    ready: Ready<Key>,
    queued: BTreeSet<Key>,
    /// Keys that a worker holds, and since when.
    running: BTreeMap<Key, Instant>,
    /// Keys that became due while a worker holds them, and why.
    dirty: BTreeMap<Key, Due>,
    /// Keys by the time at which they become due; the same pairs as `times`.
    waiting: BTreeSet<(Instant, Key)>,
    times: BTreeMap<Key, Instant>,
    /// How often a key became due.
    adds: usize,
}

/// What a worker gets.
#[derive(Debug, PartialEq)]
pub(super) enum Take<Key> {
    /// A key, why it was due, and whether another worker has a reason to look.
    Key(Key, Due, bool),
    /// Nothing before this time.
    Until(Instant),
    /// Nothing until something is added.
    Empty,
}

impl<Key> Default for State<Key> {
    fn default() -> Self {
        Self {
            ready: Ready::default(),
            queued: BTreeSet::new(),
            running: BTreeMap::new(),
            dirty: BTreeMap::new(),
            waiting: BTreeSet::new(),
            times: BTreeMap::new(),
            adds: 0,
        }
    }
}

impl<Key: QueueKey> State<Key> {
    pub(super) fn add(&mut self, key: Key, due: Due) {
        if self.running.contains_key(&key) {
            self.adds += usize::from(!self.dirty.contains_key(&key));
            self.dirty.entry(key).or_insert(due);
        } else if self.queued.insert(key.clone()) {
            self.adds += 1;
            self.ready.push(key, due);
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
        let Some((key, why)) = self.ready.pop() else {
            return self.waiting.first().map_or(Take::Empty, |(due, _)| Take::Until(*due));
        };
        self.queued.remove(&key);
        self.running.insert(key.clone(), now);
        Take::Key(key, why, self.ready.len() > 0 || !self.waiting.is_empty())
    }

    /// Ends a worker's hold; true when the key is due again.
    pub(super) fn done(&mut self, key: &Key) -> bool {
        self.running.remove(key);
        let Some(due) = self.dirty.remove(key) else { return false };
        self.queued.insert(key.clone());
        self.ready.push(key.clone(), due);
        true
    }

    /// Everything that is counted here.
    pub(super) fn figures(&self, now: Instant) -> QueueFigures {
        let age = |since: &Instant| now.saturating_duration_since(*since).as_secs_f64();
        let due = self.ready.since().chain(self.dirty.values().map(|due| &due.since));
        QueueFigures {
            due: self.due(),
            delayed: self.delayed(),
            running: self.running(),
            adds: self.adds,
            oldest_seconds: due.min().map(age).unwrap_or_default(),
            unfinished_seconds: self.running.values().map(age).sum(),
            longest_seconds: self.running.values().min().map(age).unwrap_or_default(),
            ..QueueFigures::default()
        }
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
            if let Some((since, key)) = self.waiting.pop_first() {
                self.times.remove(&key);
                self.add(key, Due { since, cause: cause::TIME });
            }
        }
    }
}
