//! Objects that an older OLM made without today's labels (spec olm-operator 6.5).
//!
//! OLM v0 watches by the label `olm.managed`; what it made before that label existed is labelled
//! once. Ours watches without it, so nothing has to be complete before work begins: an object is
//! labelled when it is seen. Both labels are written by server-side apply under v0's names of field
//! managers, so that a later v0 finds them as its own.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource as KubeResource;
use olm_effect::{Action, Effect, Target};
use olm_types::labels::PERMISSIONS_HASH;
use olm_types::labels::{MANAGED, MANAGED_VALUE, OWNER, OWNER_KIND, OWNER_NAMESPACE};
use serde_json::{Value, json};

use crate::install_plan::steps::{binding_hash, rules_hash};
use crate::writes::resource_of;

/// Field manager of [`MANAGED`].
const OWNERSHIP: &str = "olm-ownership-labeller";

/// Field manager of [`PERMISSIONS_HASH`].
const HASH: &str = "olm-hash-labeller";

/// Versions of OLM's API group whose objects own others.
const OWNERS: [&str; 4] = [
    "operators.coreos.com/v1",
    "operators.coreos.com/v1alpha1",
    "operators.coreos.com/v1alpha2",
    "operators.coreos.com/v2",
];

/// An object of a kind that olm-operator labels; those of other kinds are catalog-operator's.
#[derive(Clone, Debug)]
pub enum Labelled {
    /// Gets [`MANAGED`].
    Deployment(Arc<Deployment>),
    /// Gets the hash of its rules, too.
    ClusterRole(Arc<ClusterRole>),
    /// Gets the hash of its role and subjects, too.
    ClusterRoleBinding(Arc<ClusterRoleBinding>),
}

/// Labels an object of OLM that has no label of it; none for others.
pub fn labels(object: &Labelled) -> Vec<Effect> {
    match object {
        Labelled::Deployment(deployment) => label::<Deployment>(&deployment.metadata, None),
        Labelled::ClusterRole(role) => {
            let hash = || rules_hash(role.rules.as_deref().unwrap_or_default());
            label::<ClusterRole>(&role.metadata, Some(&hash))
        }
        Labelled::ClusterRoleBinding(binding) => {
            label::<ClusterRoleBinding>(&binding.metadata, Some(&|| binding_hash(binding)))
        }
    }
}

/// Whether OLM made the object and has not labelled it.
pub fn is_unlabelled(metadata: &ObjectMeta) -> bool {
    let managed = metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED));
    managed.is_none_or(|value| value != MANAGED_VALUE) && is_of_olm(metadata)
}

fn is_of_olm(metadata: &ObjectMeta) -> bool {
    let owners = metadata.owner_references.iter().flatten();
    let has = |key: &str| metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(key));
    owners.into_iter().any(|owner| OWNERS.contains(&owner.api_version.as_str()))
        || [OWNER, OWNER_NAMESPACE, OWNER_KIND].into_iter().all(has)
}

/// The hash goes first: the other label says that nothing is left to do.
fn label<K: KubeResource<DynamicType = ()>>(
    metadata: &ObjectMeta,
    hash: Option<&dyn Fn() -> Option<String>>,
) -> Vec<Effect> {
    if !is_unlabelled(metadata) || metadata.deletion_timestamp.is_some() {
        return Vec::new();
    }
    let has_hash = metadata.labels.as_ref().is_some_and(|all| all.contains_key(PERMISSIONS_HASH));
    let hash = hash.filter(|_| !has_hash).and_then(|hash| hash());
    let hash = hash.map(|hash| apply::<K>(metadata, HASH, PERMISSIONS_HASH, &hash));
    let managed = apply::<K>(metadata, OWNERSHIP, MANAGED, MANAGED_VALUE);
    hash.into_iter().chain([managed]).collect()
}

fn apply<K: KubeResource<DynamicType = ()>>(
    metadata: &ObjectMeta,
    manager: &str,
    key: &str,
    value: &str,
) -> Effect {
    let name = metadata.name.clone().unwrap_or_default();
    let mut object = json!({
        "apiVersion": K::api_version(&()),
        "kind": K::kind(&()),
        "metadata": {"name": name, "labels": {key: value}},
    });
    if let Some(namespace) = &metadata.namespace {
        object["metadata"]["namespace"] = Value::from(namespace.as_str());
    }
    let target =
        Target { resource: resource_of::<K>(), namespace: metadata.namespace.clone(), name };
    Effect::new(target, Action::Apply { object, manager: manager.to_owned(), force: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde::de::DeserializeOwned;

    fn object<K: DeserializeOwned>(value: Value) -> Arc<K> {
        Arc::new(serde_json::from_value(value).unwrap())
    }

    fn owned(labels: Value) -> Value {
        let mut all = json!({
            "olm.owner": "csv", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
        });
        all.as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
        json!({"name": "r", "labels": all})
    }

    fn written(effects: &[Effect]) -> Vec<(String, Value)> {
        let parts = |effect: &Effect| match &effect.action {
            Action::Apply { object, manager, .. } => {
                (manager.clone(), object.pointer("/metadata/labels").cloned().unwrap())
            }
            other => panic!("not applied: {other:?}"),
        };
        effects.iter().map(parts).collect()
    }

    #[rstest]
    #[case::owner_labels(owned(json!({})), true)]
    #[case::labelled(owned(json!({"olm.managed": "true"})), false)]
    #[case::of_no_owner(json!({"name": "r"}), false)]
    #[case::some_labels(json!({"name": "r", "labels": {"olm.owner": "csv"}}), false)]
    #[case::owner_reference(json!({"name": "r", "ownerReferences": [
        {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "name": "g", "uid": "u"},
    ]}), true)]
    #[case::of_another(json!({"name": "r", "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "g", "uid": "u"},
    ]}), false)]
    fn what_is_labelled(#[case] metadata: Value, #[case] labelled: bool) {
        let effects = labels(&Labelled::Deployment(object(json!({"metadata": metadata}))));
        assert_eq!(!effects.is_empty(), labelled);
        if labelled {
            let label = json!({"olm.managed": "true"});
            assert_eq!(written(&effects), [("olm-ownership-labeller".to_owned(), label)]);
        }
    }

    #[test]
    fn roles_of_an_older_version_get_the_hash_of_their_rules_first() {
        let rules = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
        let role = object(json!({"metadata": owned(json!({})), "rules": rules}));
        let hash = "11rrkxEvVvfh9HkCh7cyssbBqZFy9B7koZklln";
        let expected = [
            ("olm-hash-labeller".to_owned(), json!({"olm.permissions.hash": hash})),
            ("olm-ownership-labeller".to_owned(), json!({"olm.managed": "true"})),
        ];
        assert_eq!(written(&labels(&Labelled::ClusterRole(role))), expected);
        let known = owned(json!({"olm.permissions.hash": "h"}));
        let role = object(json!({"metadata": known, "rules": rules}));
        assert_eq!(written(&labels(&Labelled::ClusterRole(role))).len(), 1);
    }

    #[test]
    fn bindings_get_the_hash_of_role_and_subjects() {
        let binding = object(json!({
            "metadata": owned(json!({})),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}],
        }));
        let hash = "5xasUEoevBXLH8uOQsXTr3GPmeI0H06RYE4fKm";
        let written = written(&labels(&Labelled::ClusterRoleBinding(binding)));
        assert_eq!(written[0].1, json!({"olm.permissions.hash": hash}));
    }
}
