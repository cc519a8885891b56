//! Assembles what a look at a group needs. Decides nothing.

use olm_kit::ObjectKey;
use olm_lifecycle::operator_group::Observed;

use crate::stores::Stores;

/// The group of this key and its surroundings; `None` when it is gone.
pub fn observe(stores: &Stores, key: &ObjectKey) -> Option<Observed> {
    let namespace = key.namespace.as_deref().unwrap_or_default();
    Some(Observed {
        group: stores.groups.get_key(key)?,
        groups_in_namespace: stores.groups.list_in(namespace).len(),
        namespaces: stores.namespaces.list(),
        members: stores.csvs.list_in(namespace),
    })
}
