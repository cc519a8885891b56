//! Gathers an Operator and its components. Decides nothing.

use kube::ResourceExt;
use olm_lifecycle::operator::{Observed, have_one_home};
use olm_types::api::Operator;
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
    let operator = stores.operators.get(None, name);
    Ok(Observed {
        name: name.to_owned(),
        alike: if operator.is_none() { alike(stores, name) } else { 0 },
        operator,
        components: objects.map(|object| object.reference()).collect(),
        key,
    })
}

/// How many Operators there are of the namespace that one would be of.
fn alike(stores: &Stores, name: &str) -> usize {
    let is_alike = |operator: &Operator| have_one_home(&operator.name_any(), name);
    stores.operators.list_where(is_alike).len()
}
