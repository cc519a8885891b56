//! Writes the labels.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::labeller::labels;

use super::observe::observe;
use crate::components::ComponentId;
use crate::stores::Stores;

/// Labels Deployments, ClusterRoles and ClusterRoleBindings.
pub struct Labeller {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<ComponentId> for Labeller {
    async fn reconcile(&self, id: &ComponentId) -> Result<Conclusion, ReconcileError> {
        let Some(object) = observe(&self.stores, id) else { return Ok(Conclusion::Done) };
        self.interpreter.act(&labels(&object)).await?;
        Ok(Conclusion::Done)
    }
}
