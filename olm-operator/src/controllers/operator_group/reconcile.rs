//! Brings a group's status, roles and annotation in step with the cluster, and cleans up after it.

use async_trait::async_trait;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_group::{decide, decide_gone};

use super::observe::{observe, roles};
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
        let effects = match observe(&self.stores, key) {
            Some(observed) => {
                let decision = decide(&observed, clock::now());
                decision.notes.iter().for_each(|note| tracing::warn!(note));
                decision.effects
            }
            None => {
                let namespace = key.namespace.as_deref().unwrap_or_default();
                decide_gone(namespace, &key.name, &roles(&self.stores, key))
            }
        };
        self.interpreter.act(&effects).await?;
        Ok(Conclusion::Done)
    }
}
