//! What a watch fills: a store, whatever the kind of its objects is.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::cache::Unconfirmed;
use super::{Cached, Store};
use crate::typed::typed;

/// What a watch reports, and what became of it.
pub(super) trait Fill: Send + Sync {
    /// The watch lists anew.
    fn begin_list(&self);

    /// The list contains this object.
    ///
    /// # Errors
    /// Which field of it is wrong and why.
    fn list_one(&self, object: &Value) -> Result<(), String>;

    /// The list is complete; returns how many objects there are.
    fn end_list(&self) -> usize;

    /// Whether this version of the object is here, which is confirmed then; otherwise it has to be
    /// [applied](Self::apply).
    fn is_known(&self, metadata: &ObjectMeta) -> bool;

    /// The object was created or changed.
    ///
    /// # Errors
    /// Which field of it is wrong and why.
    fn apply(&self, object: &Value) -> Result<(), String>;

    /// The object was deleted.
    fn delete(&self, metadata: &ObjectMeta);

    /// The object cannot be read; true when this version is news.
    fn reject(&self, metadata: &ObjectMeta, error: String) -> bool;

    /// What the watch should have reported by now, or will never report.
    fn unconfirmed(&self) -> BTreeSet<Unconfirmed>;

    /// A read found no such object.
    fn drop_unconfirmed(&self, suspect: &Unconfirmed);
}

/// The store of a kind: objects are read as a `K`, of each of which a `T` is kept.
pub(super) struct Filled<K, T> {
    store: Store<T>,
    read_as: PhantomData<fn() -> K>,
}

impl<K, T> Filled<K, T> {
    pub(super) fn new(store: Store<T>) -> Self {
        Self { store, read_as: PhantomData }
    }
}

impl<K, T> Fill for Filled<K, T>
where
    K: DeserializeOwned,
    T: From<K> + Cached + Send + Sync,
{
    fn begin_list(&self) {
        self.store.begin_list();
    }

    fn list_one(&self, object: &Value) -> Result<(), String> {
        typed::<K>(object).map(|object| self.store.list_one(object.into()))
    }

    fn end_list(&self) -> usize {
        self.store.end_list();
        self.store.len()
    }

    fn is_known(&self, metadata: &ObjectMeta) -> bool {
        match (metadata.name.as_deref(), metadata.resource_version.as_deref()) {
            (Some(name), Some(version)) => {
                self.store.confirm(metadata.namespace.as_deref(), name, version)
            }
            _ => false,
        }
    }

    fn apply(&self, object: &Value) -> Result<(), String> {
        typed::<K>(object).map(|object| self.store.apply(object.into()))
    }

    fn delete(&self, metadata: &ObjectMeta) {
        self.store.delete(metadata);
    }

    fn reject(&self, metadata: &ObjectMeta, error: String) -> bool {
        self.store.reject(metadata, error)
    }

    fn unconfirmed(&self) -> BTreeSet<Unconfirmed> {
        self.store.unconfirmed()
    }

    fn drop_unconfirmed(&self, suspect: &Unconfirmed) {
        self.store.drop_unconfirmed(suspect);
    }
}
