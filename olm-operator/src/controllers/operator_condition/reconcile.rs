//! Makes OperatorConditions and keeps their rights and status right.

use async_trait::async_trait;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_condition::decide;

use super::observe::observe;
use crate::clock;
use crate::stores::Stores;

/// Reconciles OperatorConditions; a CSV has the key of its own.
pub struct ConditionReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<ObjectKey> for ConditionReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let effects = decide(&observe(&self.stores, key), clock::now());
        self.interpreter.act(&effects).await?;
        Ok(Conclusion::Done)
    }
}
