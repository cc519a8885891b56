//! The content of a store as a plain value: what each event changes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use super::Change;
use super::tombstones::Tombstones;
use super::version::compare;
use crate::ObjectKey;

/// An object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Malformed {
    /// Version that could not be read.
    pub resource_version: String,
    /// Which field is wrong and why.
    pub error: String,
}

/// Objects of one kind, with what is needed to keep them right.
#[derive(Debug)]
pub(super) struct Cache<K> {
    entries: BTreeMap<ObjectKey, Entry<K>>,
    malformed: BTreeMap<ObjectKey, Malformed>,
    tombstones: Tombstones,
    /// Keys listed since the watch began to list; `None` outside of a list.
    listed: Option<BTreeSet<ObjectKey>>,
}

#[derive(Debug)]
struct Entry<K> {
    object: Arc<K>,
    /// Whether the watch has reported this version or a newer one. An absorbed object is not
    /// confirmed: a list that misses it may be older than the write.
    confirmed: bool,
}

/// A version that the process wrote and the watch has not reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unconfirmed {
    pub(super) key: ObjectKey,
    version: Option<String>,
}

impl<K> Default for Cache<K> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            malformed: BTreeMap::new(),
            tombstones: Tombstones::default(),
            listed: None,
        }
    }
}

impl<K: Resource> Cache<K> {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<K>> {
        self.entries.get(key).map(|entry| &entry.object)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<K>> {
        self.entries.values().map(|entry| &entry.object)
    }

    pub(super) fn iter_in<'c>(&'c self, namespace: &'c str) -> impl Iterator<Item = &'c Arc<K>> {
        let inside = move |key: &ObjectKey| key.namespace.as_deref() == Some(namespace);
        self.entries
            .range(ObjectKey::namespaced(namespace, "")..)
            .take_while(move |(key, _)| inside(key))
            .map(|(_, entry)| &entry.object)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn malformed(&self) -> &BTreeMap<ObjectKey, Malformed> {
        &self.malformed
    }

    /// The watch saw the object created or changed.
    pub(super) fn apply(&mut self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        self.malformed.remove(&key);
        if let Some(entry) = self.entries.get_mut(&key) {
            let order = order(object.meta(), entry.object.meta());
            if order.is_some_and(Ordering::is_le) {
                entry.confirmed |= order == Some(Ordering::Equal);
                return None;
            }
        }
        Some(self.put(key, object, true))
    }

    /// The watch saw the object deleted.
    pub(super) fn delete(&mut self, meta: &ObjectMeta) -> Option<Change<K>> {
        let key = key_of(meta);
        self.malformed.remove(&key);
        self.tombstones.bury(key.clone(), meta);
        let entry = self.entries.get(&key)?;
        let known = entry.object.meta();
        let other = known.uid.is_some() && meta.uid.is_some() && known.uid != meta.uid;
        if other && order(known, meta) == Some(Ordering::Greater) {
            return None;
        }
        self.take(&key)
    }

    /// The watch saw an object that cannot be read; true when this version is news.
    pub(super) fn reject(&mut self, meta: &ObjectMeta, error: String) -> bool {
        let key = key_of(meta);
        if let Some(listed) = &mut self.listed {
            listed.insert(key.clone());
        }
        let resource_version = meta.resource_version.clone().unwrap_or_default();
        let malformed = Malformed { resource_version, error };
        self.malformed.insert(key, malformed.clone()) != Some(malformed)
    }

    /// The process wrote the object and this is what the API server answered.
    pub(super) fn absorb(&mut self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        let stale = match self.entries.get(&key) {
            Some(entry) => order(object.meta(), entry.object.meta()) != Some(Ordering::Greater),
            None => self.tombstones.covers(&key, object.meta()),
        };
        if stale { None } else { Some(self.put(key, object, false)) }
    }

    /// The watch lists anew.
    pub(super) fn begin_list(&mut self) {
        self.listed = Some(BTreeSet::new());
    }

    /// The list contains this object. A confirmed entry gives way even to a lower version, which
    /// is what a cluster restored from a backup shows.
    pub(super) fn list(&mut self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        self.malformed.remove(&key);
        if let Some(listed) = &mut self.listed {
            listed.insert(key.clone());
        }
        match self.entries.get(&key) {
            Some(entry) if entry.confirmed => {
                let order = order(object.meta(), entry.object.meta());
                (order != Some(Ordering::Equal)).then(|| self.put(key, object, true))
            }
            _ => self.apply(object),
        }
    }

    /// The list is complete: what it misses is gone, unless it may be newer than the list.
    pub(super) fn end_list(&mut self) -> Vec<Change<K>> {
        let listed = self.listed.take().unwrap_or_default();
        self.malformed.retain(|key, _| listed.contains(key));
        let missing = self.entries.iter().filter(|(key, _)| !listed.contains(*key));
        let gone: Vec<_> =
            missing.filter(|(_, entry)| entry.confirmed).map(|(key, _)| key.clone()).collect();
        gone.iter().filter_map(|key| self.bury(key)).collect()
    }

    /// What the watch should have reported by now, or will never report.
    pub(super) fn unconfirmed(&self) -> BTreeSet<Unconfirmed> {
        let entries = self.entries.iter().filter(|(_, entry)| !entry.confirmed);
        let unconfirmed = entries.map(|(key, entry)| Unconfirmed {
            key: key.clone(),
            version: entry.object.meta().resource_version.clone(),
        });
        unconfirmed.collect()
    }

    /// A read found no such object.
    pub(super) fn drop_unconfirmed(&mut self, suspect: &Unconfirmed) -> Option<Change<K>> {
        let entry = self.entries.get(&suspect.key)?;
        let same = entry.object.meta().resource_version == suspect.version;
        if same && !entry.confirmed { self.bury(&suspect.key) } else { None }
    }

    fn put(&mut self, key: ObjectKey, object: K, confirmed: bool) -> Change<K> {
        let object = Arc::new(object);
        let entry = Entry { object: object.clone(), confirmed };
        let old = self.entries.insert(key, entry).map(|entry| entry.object);
        Change { old, new: Some(object) }
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Change<K>> {
        let entry = self.entries.remove(key)?;
        Some(Change { old: Some(entry.object), new: None })
    }

    fn bury(&mut self, key: &ObjectKey) -> Option<Change<K>> {
        let change = self.take(key)?;
        if let Some(old) = &change.old {
            self.tombstones.bury(key.clone(), old.meta());
        }
        Some(change)
    }
}

fn order(left: &ObjectMeta, right: &ObjectMeta) -> Option<Ordering> {
    compare(left.resource_version.as_deref(), right.resource_version.as_deref())
}

fn key_of(meta: &ObjectMeta) -> ObjectKey {
    ObjectKey { namespace: meta.namespace.clone(), name: meta.name.clone().unwrap_or_default() }
}
