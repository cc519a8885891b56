//! Gathers an Operator and its components. Decides nothing.

use olm_lifecycle::operator::Observed;
use olm_types::labels::{ComponentKeyError, component};

use crate::components::ComponentIndex;
use crate::stores::Stores;

/// The Operator of this name, whether or not it exists, and what carries its label.
///
/// # Errors
/// When no label can be made of the name.
pub fn observe(
    stores: &Stores,
    index: &ComponentIndex,
    name: &str,
) -> Result<Observed, ComponentKeyError> {
    let key = component(name)?;
    let labelled = index.labelled(&key).into_iter();
    let objects = labelled.filter_map(|id| id.kind.get(stores, &id.key));
    Ok(Observed {
        name: name.to_owned(),
        operator: stores.operators.get(None, name),
        components: objects.map(|object| object.reference()).collect(),
        key,
    })
}
