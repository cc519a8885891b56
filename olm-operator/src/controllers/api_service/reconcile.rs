//! Deletes API services that no CSV serves any more.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::api_service::orphan;

use super::observe::observe;
use crate::dependents::Dependents;
use crate::stores::Stores;

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
