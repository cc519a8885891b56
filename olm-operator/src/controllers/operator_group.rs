//! OperatorGroups.

use std::sync::Arc;

use async_trait::async_trait;
use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_group::attenuation::named_account;
use olm_lifecycle::operator_group::{Observed, decide, decide_gone, role_names};
use olm_opgroup::oldest;

use crate::clock;
use crate::stores::Stores;

/// The group of this key and its surroundings; `None` when it is gone.
pub fn observe(stores: &Stores, key: &ObjectKey) -> Option<Observed> {
    let namespace = key.namespace.as_deref().unwrap_or_default();
    let group = stores.groups.get_key(key)?;
    let account = named_account(&group);
    let groups = stores.groups.list_in(namespace);
    let mut oldest = oldest(groups.iter().map(AsRef::as_ref));
    Some(Observed {
        is_oldest: oldest.any(|group| group.metadata.name.as_ref() == Some(&key.name)),
        groups_in_namespace: groups.len(),
        service_account: account.and_then(|name| stores.accounts.get(Some(namespace), name)),
        group,
        namespaces: stores.live_namespaces(),
        members: stores.csvs.list_in(namespace),
        roles: roles(stores, key),
    })
}

/// The ClusterRoles that have the names of the group's roles, whether or not the group exists.
pub fn roles(stores: &Stores, key: &ObjectKey) -> Vec<Arc<ClusterRole>> {
    let names = role_names(key.namespace.as_deref().unwrap_or_default(), &key.name);
    names.iter().filter_map(|name| stores.cluster_roles.get(None, name)).collect()
}

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
