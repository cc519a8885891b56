//! Keys that are due, in the order in which they leave: namespaces take turns.
//!
//! Of one namespace keys leave in the order in which they became due. Whoever has thousands of objects in a
//! namespace, each of which takes a while, keeps no other namespace waiting for all of them.

use std::collections::{BTreeMap, VecDeque};

use tokio::time::Instant;

use crate::key::QueueKey;

/// Turns for which memory is held when no key is due: what a burst needed is given back.
const SPARE: usize = 256;

/// Why a key is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// Since when.
    pub(super) since: Instant,
    /// What asked for it first.
    pub(super) cause: &'static str,
}

/// Keys that are due, each once, and why.
#[derive(Debug)]
pub(super) struct Ready<Key> {
    /// By namespace; keys of the cluster are those of one more.
    of: BTreeMap<String, VecDeque<(Key, Due)>>,
    /// The same namespaces, in the order of their turns.
    turns: VecDeque<String>,
    len: usize,
}

impl<Key> Default for Ready<Key> {
    fn default() -> Self {
        Self { of: BTreeMap::new(), turns: VecDeque::new(), len: 0 }
    }
}

impl<Key: QueueKey> Ready<Key> {
    pub(super) fn push(&mut self, key: Key, due: Due) {
        self.len += 1;
        match self.of.get_mut(key.namespace()) {
            Some(keys) => keys.push_back((key, due)),
            None => {
                let namespace = key.namespace().to_owned();
                self.turns.push_back(namespace.clone());
                self.of.insert(namespace, VecDeque::from([(key, due)]));
            }
        }
    }

    /// The next key, and why it is due.
    pub(super) fn pop(&mut self) -> Option<(Key, Due)> {
        let namespace = self.turns.pop_front()?;
        let keys = self.of.get_mut(&namespace)?;
        let taken = keys.pop_front()?;
        self.len -= 1;
        if keys.is_empty() {
            self.of.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        if self.len == 0 && self.turns.capacity() > SPARE {
            self.turns = VecDeque::new();
        }
        Some(taken)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Since when keys are due.
    pub(super) fn since(&self) -> impl Iterator<Item = &Instant> {
        self.of.values().flatten().map(|(_, due)| &due.since)
    }
}
