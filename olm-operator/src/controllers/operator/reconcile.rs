//! Keeps the list of components right, and brings an Operator back that has some.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator::decide;

use super::observe::observe;
use crate::components::ComponentIndex;
use crate::stores::Stores;

/// Reconciles Operators, by name.
pub struct OperatorReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Who carries which label.
    pub index: ComponentIndex,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<String> for OperatorReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let observed = match observe(&self.stores, &self.index, name) {
            Ok(observed) => observed,
            Err(error) => {
                tracing::warn!(%error, "the Operator has no components");
                return Ok(Conclusion::Done);
            }
        };
        let effects: Vec<_> = decide(&observed).into_iter().collect();
        self.interpreter.act(&effects).await?;
        Ok(Conclusion::Done)
    }
}
