//! Keeps the list of components right, and brings an Operator back that has some.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::digest;
use olm_lifecycle::operator::decide;
use tokio::time::Instant;

use super::observe::observe;
use crate::components::ComponentIndex;
use crate::pace::Pace;
use crate::stores::Stores;

/// Reconciles Operators, by name.
pub struct OperatorReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Who carries which label.
    pub index: ComponentIndex,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Lists of components that are about to change again: an install brings a dozen of them.
    pub pace: Pace<String>,
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
        let Some(effect) = decide(&observed) else {
            self.pace.forget(name);
            return Ok(Conclusion::Done);
        };
        // A missing Operator is created at once; its list follows.
        if observed.operator.is_some() {
            let left = self.pace.left(name.clone(), digest(&observed.components), Instant::now());
            if !left.is_zero() {
                return Ok(Conclusion::RequeueAfter(left));
            }
        }
        self.interpreter.act(&[effect]).await?;
        self.pace.forget(name);
        Ok(Conclusion::Done)
    }
}
