//! Memory of deleted objects, so that a late answer to a write cannot bring one back.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

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
    resource_version: Option<String>,
}

impl Tombstones {
    /// Remembers the deletion of the object with this metadata.
    pub(super) fn bury(&mut self, key: ObjectKey, meta: &ObjectMeta) {
        let deleted =
            Deleted { uid: meta.uid.clone(), resource_version: meta.resource_version.clone() };
        if self.deleted.insert(key.clone(), deleted).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.deleted.remove(&oldest);
        }
    }

    /// Whether an object with this metadata is known to be gone.
    pub(super) fn covers(&self, key: &ObjectKey, meta: &ObjectMeta) -> bool {
        self.deleted.get(key).is_some_and(|deleted| {
            let same = deleted.uid.is_some() && deleted.uid == meta.uid;
            let version = meta.resource_version.as_deref();
            let order = compare(version, deleted.resource_version.as_deref());
            same || order.is_some_and(Ordering::is_le)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(uid: &str, version: &str) -> ObjectMeta {
        let (uid, resource_version) = (Some(uid.to_owned()), Some(version.to_owned()));
        ObjectMeta { uid, resource_version, ..ObjectMeta::default() }
    }

    #[test]
    fn covers_the_same_object_and_older_ones() {
        let mut tombstones = Tombstones::default();
        let key = ObjectKey::namespaced("ns", "a");
        tombstones.bury(key.clone(), &meta("uid-1", "20"));
        assert!(tombstones.covers(&key, &meta("uid-1", "25")), "same object, late answer");
        assert!(tombstones.covers(&key, &meta("uid-0", "15")), "an older object");
        assert!(!tombstones.covers(&key, &meta("uid-2", "21")), "created again");
        assert!(!tombstones.covers(&ObjectKey::cluster("a"), &meta("uid-1", "20")));
    }

    #[test]
    fn memory_is_bounded() {
        let mut tombstones = Tombstones::default();
        for number in 0..2 * REMEMBERED {
            tombstones.bury(ObjectKey::cluster(&number.to_string()), &meta("u", "1"));
            tombstones.bury(ObjectKey::cluster("again"), &meta("u", "1"));
        }
        assert!(tombstones.deleted.len() <= REMEMBERED);
        assert_eq!(tombstones.deleted.len(), tombstones.order.len());
    }
}
