//! The content of a store as a plain value: what each event changes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::slot::{Named, Slot};
use super::tombstones::Tombstones;
use super::version::compare;
use super::{Cached, Change};
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
    /// Whether the watch has reported this version of the object or a newer one. An absorbed object
    /// is not confirmed: a list that misses it may be older than the write.
    confirmed: BTreeMap<Slot<K>, bool>,
    malformed: BTreeMap<ObjectKey, Malformed>,
    tombstones: Tombstones,
    /// Keys listed since the watch began to list; `None` outside of a list.
    listed: Option<BTreeSet<ObjectKey>>,
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
            confirmed: BTreeMap::new(),
            malformed: BTreeMap::new(),
            tombstones: Tombstones::default(),
            listed: None,
        }
    }
}

impl<K: Cached> Cache<K> {
    pub(super) fn get(&self, place: &dyn Named) -> Option<&Arc<K>> {
        self.entry(place).map(|(object, _)| object)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<K>> {
        self.confirmed.keys().map(|slot| &slot.0)
    }

    pub(super) fn iter_in<'c>(&'c self, namespace: &'c str) -> impl Iterator<Item = &'c Arc<K>> {
        let first = (Some(namespace), "");
        let from: Bound<&dyn Named> = Bound::Included(&first);
        self.confirmed
            .range::<dyn Named, _>((from, Bound::Unbounded))
            .map(|(slot, _)| &slot.0)
            .take_while(move |object| object.cached_namespace() == Some(namespace))
    }

    pub(super) fn len(&self) -> usize {
        self.confirmed.len()
    }

    pub(super) fn malformed(&self) -> &BTreeMap<ObjectKey, Malformed> {
        &self.malformed
    }

    /// The watch saw the object created or changed.
    pub(super) fn apply(&mut self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        self.malformed.remove(&key);
        let known = self.get(&key).map(|known| order(&object, known));
        match known.flatten() {
            Some(Ordering::Less) => None,
            Some(Ordering::Equal) => {
                self.confirm(&key);
                None
            }
            _ => Some(self.put(object, true)),
        }
    }

    /// The watch saw this version of an object; false when it is not the one that is here, so that the object has
    /// to be [applied](Self::apply).
    pub(super) fn confirm_version(
        &mut self,
        namespace: Option<&str>,
        name: &str,
        version: &str,
    ) -> bool {
        let place = (namespace, name);
        let is_here = self.get(&place).is_some_and(|known| known.cached_version() == Some(version));
        if is_here {
            let namespace = namespace.map(str::to_owned);
            self.malformed.remove(&ObjectKey { namespace, name: name.to_owned() });
            self.confirm(&place);
        }
        is_here
    }

    /// The watch saw the object deleted.
    pub(super) fn delete(&mut self, meta: &ObjectMeta) -> Option<Change<K>> {
        let key = key_of(meta);
        self.malformed.remove(&key);
        let (uid, version) = (meta.uid.clone(), meta.resource_version.clone());
        self.tombstones.record_deletion(key.clone(), uid, version);
        let object = self.get(&key)?;
        let (known, gone) = (object.cached_uid(), meta.uid.as_deref());
        let other = known.is_some() && gone.is_some() && known != gone;
        let versions = (object.cached_version(), meta.resource_version.as_deref());
        if other && compare(versions.0, versions.1) == Some(Ordering::Greater) {
            return None;
        }
        self.take(&key)
    }

    /// The watch saw an object that cannot be read; true when this version is news. The version that is here is
    /// confirmed by it, unless it is newer.
    pub(super) fn reject(&mut self, meta: &ObjectMeta, error: String) -> bool {
        let key = key_of(meta);
        let known = self.get(&key).and_then(|known| known.cached_version());
        if compare(known, meta.resource_version.as_deref()).is_some_and(Ordering::is_le) {
            self.confirm(&key);
        }
        if let Some(listed) = &mut self.listed {
            listed.insert(key.clone());
        }
        let resource_version = meta.resource_version.clone().unwrap_or_default();
        let malformed = Malformed { resource_version, error };
        self.malformed.insert(key, malformed.clone()) != Some(malformed)
    }

    /// The process wrote the object and this is what the API server answered.
    pub(super) fn insert_written(&mut self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        let stale = match self.get(&key) {
            Some(known) => order(&object, known) != Some(Ordering::Greater),
            None => self.tombstones.covers(&key, object.cached_uid(), object.cached_version()),
        };
        if stale { None } else { Some(self.put(object, false)) }
    }

    /// The process wrote the object, and the API server answered that it is gone with that.
    pub(super) fn remove_written(&mut self, object: &K) -> Option<Change<K>> {
        let key = ObjectKey::of(object);
        let other = self.get(&key).is_some_and(|known| known.cached_uid() != object.cached_uid());
        if other {
            return None;
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (uid, version) = (owned(object.cached_uid()), owned(object.cached_version()));
        self.tombstones.record_deletion(key.clone(), uid, version);
        self.take(&key)
    }

    /// The version at which an object was seen deleted, if it is not there again.
    pub(super) fn deleted_at(&self, namespace: Option<&str>, name: &str) -> Option<String> {
        if self.get(&(namespace, name)).is_some() {
            return None;
        }
        let key = ObjectKey { namespace: namespace.map(str::to_owned), name: name.to_owned() };
        self.tombstones.version(&key).map(str::to_owned)
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
        match self.entry(&key) {
            Some((known, true)) => {
                let order = order(&object, known);
                (order != Some(Ordering::Equal)).then(|| self.put(object, true))
            }
            _ => self.apply(object),
        }
    }

    /// The list is complete: what it misses is gone, unless it may be newer than the list.
    pub(super) fn end_list(&mut self) -> Vec<Change<K>> {
        let listed = self.listed.take().unwrap_or_default();
        self.malformed.retain(|key, _| listed.contains(key));
        let confirmed = self.confirmed.iter().filter(|(_, confirmed)| **confirmed);
        let keys = confirmed.map(|(slot, _)| ObjectKey::of(&*slot.0));
        let gone: Vec<_> = keys.filter(|key| !listed.contains(key)).collect();
        gone.iter().filter_map(|key| self.record_deletion(key)).collect()
    }

    /// What the watch should have reported by now, or will never report.
    pub(super) fn unconfirmed(&self) -> BTreeSet<Unconfirmed> {
        let entries = self.confirmed.iter().filter(|(_, confirmed)| !**confirmed);
        let unconfirmed = entries.map(|(Slot(object), _)| Unconfirmed {
            key: ObjectKey::of(&**object),
            version: object.cached_version().map(str::to_owned),
        });
        unconfirmed.collect()
    }

    /// A read found no such object.
    pub(super) fn drop_unconfirmed(&mut self, suspect: &Unconfirmed) -> Option<Change<K>> {
        let (object, confirmed) = self.entry(&suspect.key)?;
        let same = object.cached_version() == suspect.version.as_deref();
        if same && !confirmed { self.record_deletion(&suspect.key) } else { None }
    }

    /// The object in this place, and whether it is confirmed.
    fn entry(&self, place: &dyn Named) -> Option<(&Arc<K>, bool)> {
        let (slot, confirmed) = self.confirmed.get_key_value(place)?;
        Some((&slot.0, *confirmed))
    }

    fn confirm(&mut self, place: &dyn Named) {
        if let Some(confirmed) = self.confirmed.get_mut(place) {
            *confirmed = true;
        }
    }

    fn put(&mut self, object: K, confirmed: bool) -> Change<K> {
        let slot = Slot(Arc::new(object));
        let new = Some(slot.0.clone());
        // The slot is its own key, and a map keeps the key it has: the old one has to go first.
        let old = self.confirmed.remove_entry(&slot).map(|(slot, _)| slot.0);
        self.confirmed.insert(slot, confirmed);
        Change { old, new }
    }

    /// Forgets the object in this place.
    pub(super) fn take(&mut self, place: &dyn Named) -> Option<Change<K>> {
        let (slot, _) = self.confirmed.remove_entry(place)?;
        Some(Change { old: Some(slot.0), new: None })
    }

    fn record_deletion(&mut self, key: &ObjectKey) -> Option<Change<K>> {
        let change = self.take(key)?;
        if let Some(old) = &change.old {
            let (uid, version) = (old.cached_uid(), old.cached_version());
            let owned = |text: Option<&str>| text.map(str::to_owned);
            self.tombstones.record_deletion(key.clone(), owned(uid), owned(version));
        }
        Some(change)
    }
}

fn order<K: Cached>(left: &K, right: &K) -> Option<Ordering> {
    compare(left.cached_version(), right.cached_version())
}

fn key_of(meta: &ObjectMeta) -> ObjectKey {
    ObjectKey { namespace: meta.namespace.clone(), name: meta.name.clone().unwrap_or_default() }
}
