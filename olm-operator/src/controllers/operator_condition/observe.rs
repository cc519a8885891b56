//! Gathers an OperatorCondition, its CSV and its rights, all of one name. Decides nothing.

use olm_kit::ObjectKey;
use olm_lifecycle::operator_condition::Observed;

use crate::stores::Stores;

/// What there is under this name.
pub fn observe(stores: &Stores, key: &ObjectKey) -> Observed {
    Observed {
        csv: stores.csvs.get_key(key),
        condition: stores.conditions.get_key(key),
        role: stores.roles.get_key(key),
        role_binding: stores.role_bindings.get_key(key),
    }
}
