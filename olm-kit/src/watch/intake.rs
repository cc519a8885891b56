//! What comes into a store besides what the watch reports, and in which form.

use olm_effect::Target;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Cached, Store};
use crate::typed::typed;

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
pub trait WrittenStore: Send + Sync {
    /// Takes the object as an API server returned it. One that is malformed, or takes more memory than the watch
    /// reads, is ignored: the watch will report it. One whose last finalizer went while it was being deleted is gone.
    fn absorb_value(&self, object: &Value);

    /// The `resourceVersion` under which the store knows the target.
    fn version_of(&self, target: &Target) -> Option<String>;

    /// The `resourceVersion` at which the store saw the target deleted, if it is not there again.
    fn gone_at(&self, target: &Target) -> Option<String>;
}

impl<K: Cached + DeserializeOwned + Send + Sync> WrittenStore for Store<K> {
    fn absorb_value(&self, object: &Value) {
        let is_gone = is_gone(object);
        let Ok(object) = typed::<K>(object) else { return };
        if is_gone { self.remove_written(object) } else { self.insert_written(object) }
    }

    fn version_of(&self, target: &Target) -> Option<String> {
        let object = self.get(target.namespace.as_deref(), &target.name)?;
        object.cached_version().map(str::to_owned)
    }

    fn gone_at(&self, target: &Target) -> Option<String> {
        self.deleted_at(target.namespace.as_deref(), &target.name)
    }
}

/// Whether an API server keeps the object no longer: it is being deleted, and no finalizer holds it. Pods are given
/// seconds to end.
fn is_gone(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let is_held = metadata["finalizers"].as_array().is_some_and(|held| !held.is_empty());
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or_default();
    metadata["deletionTimestamp"].is_string() && !is_held && grace == 0
}
