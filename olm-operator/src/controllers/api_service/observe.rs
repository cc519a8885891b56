//! Finds an API service and the CSVs that may need it.

use olm_lifecycle::api_service::{Provided, labelled_owner};

use crate::dependents::{Dependency, Dependents};
use crate::stores::Stores;

/// The API service of this name with its CSVs, if it exists.
pub fn observe(stores: &Stores, dependents: &Dependents, name: &str) -> Option<Provided> {
    let service = stores.api_services.get(None, name)?;
    let owner = labelled_owner(&service)
        .and_then(|owner| stores.csvs.get(Some(owner.namespace), owner.name));
    let named_by = dependents.of(&Dependency::ApiService(name.to_owned()));
    let named_by = named_by.iter().filter_map(|key| stores.csvs.get_key(key)).collect();
    Some(Provided { service, owner, named_by })
}
