//! Finds an API service and who provides it, and asks what to do about it.

use olm_effect::Effect;
use olm_kit::ObjectKey;
use olm_lifecycle::api_service::orphan;
use olm_lifecycle::certificates::owned_api_services;

use crate::dependents::{Dependency, Dependents};
use crate::stores::Stores;

/// The deletion of the API service of this name, if it is an orphan.
pub fn effects(stores: &Stores, dependents: &Dependents, name: &str) -> Option<Effect> {
    let service = stores.api_services.get(None, name)?;
    orphan(
        &service,
        |owner| stores.csvs.get(Some(owner.namespace), owner.name).is_some(),
        is_provided(stores, dependents, name),
    )
}

fn is_provided(stores: &Stores, dependents: &Dependents, name: &str) -> bool {
    let concerned = dependents.of(&Dependency::ApiService(name.to_owned()));
    let owns = |key: &ObjectKey| {
        let csv = stores.csvs.get_key(key);
        csv.is_some_and(|csv| owned_api_services(&csv).any(|api| api.api_service_name() == name))
    };
    concerned.iter().any(owns)
}
