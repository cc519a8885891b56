//! Labels of namespaces.

use std::sync::Arc;

use async_trait::async_trait;
use k8s_openapi::api::core::v1::Namespace;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::operator_group::decide_namespace;
use olm_opgroup::LiveNamespaces;
use olm_types::api::OperatorGroup;
use olm_types::labels::operator_group_uid;

use crate::queues::Queues;
use crate::stores::Stores;

/// A namespace and the groups that may label it.
pub struct Observed {
    /// The namespace, without labels of groups that another OLM operator looks after.
    pub namespace: Arc<Namespace>,
    /// The groups that this one looks after.
    pub groups: Vec<Arc<OperatorGroup>>,
    /// All Namespaces, from which it follows what groups give.
    pub live: LiveNamespaces,
}

/// The namespace of this name and the groups; `None` when it is gone.
pub fn observe(stores: &Stores, queues: &Queues, name: &str) -> Option<Observed> {
    let is_ours = |group: &Arc<OperatorGroup>| queues.looks_after(&ObjectKey::of(group.as_ref()));
    let mut namespace = stores.namespaces.get(None, name)?;
    let (groups, foreign): (Vec<_>, Vec<_>) = stores.groups.list().into_iter().partition(is_ours);
    if !foreign.is_empty() {
        namespace = Arc::new(without_labels_of(&foreign, &namespace));
    }
    Some(Observed { namespace, groups, live: stores.live_namespaces() })
}

fn without_labels_of(groups: &[Arc<OperatorGroup>], namespace: &Namespace) -> Namespace {
    let mut namespace = namespace.clone();
    for group in groups {
        let uid = group.metadata.uid.as_deref().unwrap_or_default();
        if let Some(labels) = &mut namespace.metadata.labels {
            labels.remove(&operator_group_uid(uid));
        }
    }
    namespace
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use olm_kit::watch::Store;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn object<K: DeserializeOwned>(value: Value) -> K {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn labels_of_groups_of_another_olm_are_none_of_our_business() {
        let group = |namespace: &str| {
            let metadata = json!({"name": "g", "namespace": namespace, "uid": namespace});
            object::<OperatorGroup>(json!({"metadata": metadata}))
        };
        let labels = json!({"olm.operatorgroup.uid/ours": "", "olm.operatorgroup.uid/theirs": ""});
        let namespace = json!({"metadata": {"name": "n", "labels": labels}});
        let stores = Stores {
            groups: Store::with_objects([group("ours"), group("theirs")]),
            namespaces: Store::with_objects([object::<Namespace>(namespace)]),
            ..Stores::default()
        };
        let queues = Queues::new(Some(["ours".to_owned()].into()));
        let observed = observe(&stores, &queues, "n").unwrap();
        assert_eq!(observed.groups.len(), 1);
        let labels = observed.namespace.metadata.labels.clone().unwrap();
        assert_eq!(labels.into_keys().collect::<Vec<_>>(), ["olm.operatorgroup.uid/ours"]);
        assert_eq!(observe(&stores, &Queues::new(None), "n").unwrap().groups.len(), 2);
    }
}
