//! OperatorConditions: one for every CSV, the rights to write it, and what was taken notice of.
//!
//! Condition, CSV, Role and RoleBinding have the same name. What is observed is decided about in
//! `olm-lifecycle`.

use async_trait::async_trait;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_condition::{Observed, decide};

use crate::clock;
use crate::stores::Stores;

/// What there is under this name.
pub fn observe(stores: &Stores, key: &ObjectKey) -> Observed {
    Observed {
        csv: stores.csvs.get_key(key),
        condition: stores.conditions.get_key(key),
        role: stores.roles.get_key(key),
        role_binding: stores.role_bindings.get_key(key),
    }
}

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
