//! OperatorGroups.

use std::sync::Arc;

use async_trait::async_trait;
use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_effect::{Action, Effect};
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::digest;
use olm_lifecycle::operator_group::attenuation::named_account;
use olm_lifecycle::operator_group::{Observed, decide, decide_gone, role_apis, role_names};
use olm_opgroup::oldest;
use tokio::time::Instant;

use crate::clock;
use crate::status_delay::StatusDelay;
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
    /// Roles that are about to change again: several operators that arrive together bring APIs one after the
    /// other, and Kubernetes computes what aggregates a role anew with each change of it.
    pub status_delay: StatusDelay<ObjectKey>,
}

#[async_trait]
impl Reconciler<ObjectKey> for GroupReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let Some(observed) = observe(&self.stores, key) else {
            self.status_delay.forget(key);
            let namespace = key.namespace.as_deref().unwrap_or_default();
            let effects = decide_gone(namespace, &key.name, &roles(&self.stores, key));
            self.interpreter.act(&effects).await?;
            return Ok(Conclusion::Done);
        };
        let decision = decide(&observed, clock::now());
        decision.notes.iter().for_each(|note| tracing::warn!(note));
        let (roles, others): (Vec<Effect>, Vec<Effect>) =
            decision.effects.into_iter().partition(changes_role);
        self.interpreter.act(&others).await?;
        self.change_roles(key, &roles, &observed).await
    }
}

impl GroupReconciler {
    /// Changes roles once what they are for stands still.
    async fn change_roles(
        &self,
        key: &ObjectKey,
        effects: &[Effect],
        observed: &Observed,
    ) -> Result<Conclusion, ReconcileError> {
        if !effects.is_empty() {
            let left =
                self.status_delay.left(key.clone(), digest(&role_apis(observed)), Instant::now());
            if !left.is_zero() {
                return Ok(Conclusion::RequeueAfter(left));
            }
            self.interpreter.act(effects).await?;
        }
        self.status_delay.forget(key);
        Ok(Conclusion::Done)
    }
}

/// Whether an effect changes a role that is there. One that is not there is made at once.
fn changes_role(effect: &Effect) -> bool {
    effect.target.resource.kind == "ClusterRole"
        && matches!(effect.action, Action::MergePatch { .. })
}

#[cfg(test)]
mod tests {
    use olm_effect::{Resource, Target};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::changed_role("ClusterRole", false, true)]
    #[case::new_role("ClusterRole", true, false)]
    #[case::annotation_of_the_group("OperatorGroup", false, false)]
    fn only_changes_of_roles_wait(#[case] kind: &str, #[case] is_new: bool, #[case] waits: bool) {
        let resource = Resource::new("g", "v1", kind, "things");
        let target = Target::cluster(resource, "a");
        let effect = match is_new {
            true => Effect::create(target, json!({})),
            false => Effect::merge(target, json!({}), None),
        };
        assert_eq!(changes_role(&effect), waits);
    }
}
