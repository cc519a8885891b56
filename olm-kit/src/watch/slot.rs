//! Objects ordered and found by their own names, so that a cache holds each name once.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::Cached;
use crate::ObjectKey;

/// Something that has a place in a cache.
pub(super) trait Named {
    /// Namespace (none for cluster-scoped objects) and name.
    fn names(&self) -> (Option<&str>, &str);
}

impl Named for ObjectKey {
    fn names(&self) -> (Option<&str>, &str) {
        (self.namespace.as_deref(), &self.name)
    }
}

impl Named for (Option<&str>, &str) {
    fn names(&self) -> (Option<&str>, &str) {
        *self
    }
}

impl<K: Cached> Named for Slot<K> {
    fn names(&self) -> (Option<&str>, &str) {
        (self.0.cached_namespace(), self.0.cached_name())
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for dyn Named + '_ {}

impl PartialOrd for dyn Named + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Named + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.names().cmp(&other.names())
    }
}

/// An object in a cache. It is ordered and found like its [`ObjectKey`].
pub(super) struct Slot<K>(pub(super) Arc<K>);

impl<'s, K: Cached + 's> Borrow<dyn Named + 's> for Slot<K> {
    fn borrow(&self) -> &(dyn Named + 's) {
        self
    }
}

impl<K: Cached> PartialEq for Slot<K> {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl<K: Cached> Eq for Slot<K> {}

impl<K: Cached> PartialOrd for Slot<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Cached> Ord for Slot<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.names().cmp(&other.names())
    }
}

impl<K: fmt::Debug> fmt::Debug for Slot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
