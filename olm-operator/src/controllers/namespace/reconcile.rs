//! Keeps the labels of a namespace in step with the groups that target it.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_group::decide_namespace;

use super::observe::observe;
use crate::queues::Queues;
use crate::stores::Stores;

/// Reconciles the labels of namespaces.
pub struct NamespaceReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Which groups this operator looks after.
    pub queues: Queues,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<String> for NamespaceReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let Some(observed) = observe(&self.stores, &self.queues, name) else {
            return Ok(Conclusion::Done);
        };
        let groups = observed.groups.iter().map(AsRef::as_ref);
        let effect = decide_namespace(&observed.namespace, groups, &observed.live);
        self.interpreter.act(effect.as_slice()).await?;
        Ok(Conclusion::Done)
    }
}
