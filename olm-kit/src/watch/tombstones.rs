//! Memory of deleted objects, so that a late answer to a write cannot bring one back.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use super::version::compare;
use crate::ObjectKey;

/// How many deletions are remembered. An answer to a write is late by seconds at most, so a few
/// thousand deletions cover it even when a namespace with everything in it goes.
const REMEMBERED: usize = 4096;

/// The last deletions of one kind.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    deleted: BTreeMap<ObjectKey, Deleted>,
    order: VecDeque<ObjectKey>,
}

#[derive(Debug)]
struct Deleted {
    uid: Option<String>,
    version: Option<String>,
}

impl Tombstones {
    /// Remembers the deletion of this object at this version.
    pub(super) fn record_deletion(
        &mut self,
        key: ObjectKey,
        uid: Option<String>,
        version: Option<String>,
    ) {
        let deleted = Deleted { uid, version };
        if self.deleted.insert(key.clone(), deleted).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.deleted.remove(&oldest);
        }
    }

    /// The version at which the last object of this name was deleted.
    pub(super) fn version(&self, key: &ObjectKey) -> Option<&str> {
        self.deleted.get(key)?.version.as_deref()
    }

    /// Whether this version of this object is known to be gone.
    pub(super) fn covers(&self, key: &ObjectKey, uid: Option<&str>, version: Option<&str>) -> bool {
        self.deleted.get(key).is_some_and(|deleted| {
            let same = deleted.uid.is_some() && deleted.uid.as_deref() == uid;
            let order = compare(version, deleted.version.as_deref());
            same || order.is_some_and(Ordering::is_le)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_deletion(tombstones: &mut Tombstones, key: &ObjectKey, uid: &str, version: &str) {
        tombstones.record_deletion(key.clone(), Some(uid.to_owned()), Some(version.to_owned()));
    }

    #[test]
    fn covers_the_same_object_and_older_ones() {
        let mut tombstones = Tombstones::default();
        let key = ObjectKey::namespaced("ns", "a");
        record_deletion(&mut tombstones, &key, "uid-1", "20");
        let covers = |uid, version| tombstones.covers(&key, Some(uid), Some(version));
        assert!(covers("uid-1", "25"), "same object, late answer");
        assert!(covers("uid-0", "15"), "an older object");
        assert!(!covers("uid-2", "21"), "created again");
        assert!(!tombstones.covers(&ObjectKey::cluster("a"), Some("uid-1"), Some("20")));
    }

    #[test]
    fn memory_is_bounded() {
        let mut tombstones = Tombstones::default();
        for number in 0..2 * REMEMBERED {
            record_deletion(&mut tombstones, &ObjectKey::cluster(&number.to_string()), "u", "1");
            record_deletion(&mut tombstones, &ObjectKey::cluster("again"), "u", "1");
        }
        assert!(tombstones.deleted.len() <= REMEMBERED);
        assert_eq!(tombstones.deleted.len(), tombstones.order.len());
    }
}
