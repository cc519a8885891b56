//! Labels what an older OLM made.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::labeller::{Labelled, labels};

use crate::components::{ComponentId, ComponentKind};
use crate::stores::Stores;

/// Labels Deployments, ClusterRoles and ClusterRoleBindings.
pub struct LabelReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<ComponentId> for LabelReconciler {
    async fn reconcile(&self, id: &ComponentId) -> Result<Conclusion, ReconcileError> {
        let Some(object) = observe(&self.stores, id) else { return Ok(Conclusion::Done) };
        self.interpreter.act(&labels(&object)).await?;
        Ok(Conclusion::Done)
    }
}

/// The object, if it exists and is of a kind that this operator labels.
fn observe(stores: &Stores, id: &ComponentId) -> Option<Labelled> {
    let key = &id.key;
    match id.kind {
        ComponentKind::Deployment => stores.deployments.get_key(key).map(Labelled::Deployment),
        ComponentKind::ClusterRole => stores.cluster_roles.get_key(key).map(Labelled::ClusterRole),
        ComponentKind::ClusterRoleBinding => {
            stores.cluster_role_bindings.get_key(key).map(Labelled::ClusterRoleBinding)
        }
        _ => None,
    }
}
