//! One watch per kind, and the store it keeps up to date.
//!
//! Invariants:
//! - a store is ordered by namespace and name, so that iteration never depends on a hash map;
//! - a malformed object is logged, counted and skipped; the last good version of it stays;
//! - objects that vanished while the watch was interrupted are reported like any other deletion;
//! - what the process wrote itself is visible at once ([`Store::insert_written`]), is never overwritten by
//!   an older event, and never brings a deleted object back;
//! - listeners are called in the order of the changes, one at a time per store.

mod builder;
mod cache;
mod cached;
mod fill;
mod follow;
mod intake;
mod set;
mod slot;
mod store;
#[cfg(test)]
mod tests;
mod tombstones;
mod version;

use std::sync::Arc;

pub use builder::{Watch, WatchBuilder};
pub use cache::Malformed;
pub use cached::Cached;
pub use intake::WrittenStore;
pub use kube::runtime::watcher::Config;
pub use set::WatchSet;
pub use store::Store;
pub(crate) use version::compare;

/// What happened to one object. At least one side is present.
#[derive(Debug)]
pub struct Change<K> {
    /// The object as the store knew it; `None` when it is new.
    pub old: Option<Arc<K>>,
    /// The object as it is now; `None` when it is gone.
    pub new: Option<Arc<K>>,
}

impl<K> Change<K> {
    /// The newest version known: the new one, or the last one of a deleted object.
    pub fn latest(&self) -> Option<&Arc<K>> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// The versions there are, old before new: what a listener maps to the keys it affects.
    pub fn versions(&self) -> impl Iterator<Item = &Arc<K>> {
        self.old.iter().chain(&self.new)
    }
}

impl<K> Clone for Change<K> {
    fn clone(&self) -> Self {
        Self { old: self.old.clone(), new: self.new.clone() }
    }
}
