//! API services whose CSV is gone: they are deleted, because no CSV serves them any more.
//!
//! Those of a CSV that is there are written by the controller of CSVs.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::api_service::{Provided, labelled_owner, orphan};

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

/// Reconciles API services by name.
pub struct ApiServiceReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Which CSVs name which API service.
    pub dependents: Dependents,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<String> for ApiServiceReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let observed = observe(&self.stores, &self.dependents, name);
        let deletion = observed.as_ref().and_then(orphan);
        self.interpreter.act(deletion.as_slice()).await?;
        Ok(Conclusion::Done)
    }
}
