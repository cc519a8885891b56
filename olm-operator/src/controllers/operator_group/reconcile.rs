//! Brings a group's status and annotation in step with the cluster.

use async_trait::async_trait;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_group::decide;

use super::observe::observe;
use crate::clock;
use crate::stores::Stores;

/// Reconciles OperatorGroups.
pub struct GroupReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<ObjectKey> for GroupReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let Some(observed) = observe(&self.stores, key) else { return Ok(Conclusion::Done) };
        let decision = decide(&observed, clock::now());
        for note in &decision.notes {
            tracing::warn!(note);
        }
        let outcomes = self.interpreter.execute(&decision.effects).await;
        ReconcileError::from_outcomes(&outcomes)?;
        Ok(Conclusion::Done)
    }
}
