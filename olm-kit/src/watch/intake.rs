//! What comes into a store besides what the watch reports, and in which form.

use olm_effect::Target;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Cached, Store};

/// Drops what is not read.
pub(super) type Strip<K> = Box<dyn Fn(&mut K) + Send + Sync>;

/// Says whether an object belongs here.
pub(super) type Predicate<K> = Box<dyn Fn(&K) -> bool + Send + Sync>;

/// What happens to an object before it is stored.
pub(super) struct Intake<K> {
    pub(super) strip: Option<Strip<K>>,
    pub(super) admits: Admits<K>,
}

/// Which objects that the process wrote belong into the store.
pub(super) enum Admits<K> {
    /// All: the watch has no selector.
    All,
    /// Those that are there already: whether the selector matches another one is not known.
    Known,
    /// Those for which the predicate holds.
    If(Predicate<K>),
}

/// A store that an interpreter can hand objects to without knowing their type.
pub trait Absorb: Send + Sync {
    /// Takes the object as an API server returned it. A malformed one is ignored: the watch will
    /// report it.
    fn absorb_value(&self, object: &Value);

    /// The `resourceVersion` under which the store knows the target.
    fn version_of(&self, target: &Target) -> Option<String>;
}

impl<K: Cached + DeserializeOwned + Send + Sync> Absorb for Store<K> {
    fn absorb_value(&self, object: &Value) {
        if let Ok(object) = K::deserialize(object) {
            self.absorb(object);
        }
    }

    fn version_of(&self, target: &Target) -> Option<String> {
        let object = self.get(target.namespace.as_deref(), &target.name)?;
        object.cached_version().map(str::to_owned)
    }
}
