//! Brings ClusterRoles and their bindings in step with what OLM wants of them.
//!
//! What is there is compared with what is wanted, and only the difference is written: labels of
//! others stay, and an object in step is not touched.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube_core::Resource as KubeResource;
use olm_effect::{Action, Effect, Propagation, Target};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::writes::resource_of;

/// The write that makes `present` as `wanted`. Rules of a role that Kubernetes fills are its own.
pub(crate) fn cluster_role(wanted: &ClusterRole, present: Option<&ClusterRole>) -> Option<Effect> {
    let Some(present) = present else { return Some(create(wanted)) };
    let mut patch = Map::new();
    if wanted.aggregation_rule != present.aggregation_rule {
        patch.insert("aggregationRule".to_owned(), json!(wanted.aggregation_rule));
        if wanted.aggregation_rule.is_none() {
            // No other part removes what was filled in before.
            patch.insert("rules".to_owned(), Value::Null);
        }
    }
    if wanted.rules.is_some() && wanted.rules != present.rules {
        patch.insert("rules".to_owned(), json!(wanted.rules));
    }
    change(wanted, &present.metadata, patch)
}

/// The write that makes `present` as `wanted`. The role that a binding refers to cannot be
/// changed; a binding to another one is left alone.
pub(crate) fn cluster_role_binding(
    wanted: &ClusterRoleBinding,
    present: Option<&ClusterRoleBinding>,
) -> Option<Effect> {
    let Some(present) = present else { return Some(create(wanted)) };
    if wanted.role_ref.kind != present.role_ref.kind
        || wanted.role_ref.name != present.role_ref.name
    {
        return None;
    }
    let mut patch = Map::new();
    if wanted.subjects != present.subjects {
        patch.insert("subjects".to_owned(), json!(wanted.subjects));
    }
    change(wanted, &present.metadata, patch)
}

/// The deletion of exactly this cluster-scoped object.
pub(crate) fn delete<K: KubeResource<DynamicType = ()>>(object: &K) -> Effect {
    let action = Action::Delete {
        uid: object.meta().uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Effect::new(target(object), action)
}

fn create<K: KubeResource<DynamicType = ()> + Serialize>(wanted: &K) -> Effect {
    Effect::create(target(wanted), serde_json::to_value(wanted).unwrap_or_default())
}

fn change<K: KubeResource<DynamicType = ()>>(
    wanted: &K,
    present: &ObjectMeta,
    patch: Map<String, Value>,
) -> Option<Effect> {
    change_of(target(wanted), wanted.meta(), present, patch)
}

/// The write that gives an object what it lacks of labels and owners beside `patch`; nothing when
/// there is nothing to write. Guarded by the resourceVersion of what is there.
pub(crate) fn change_of(
    target: Target,
    wanted: &ObjectMeta,
    present: &ObjectMeta,
    mut patch: Map<String, Value>,
) -> Option<Effect> {
    let mut metadata = Map::new();
    let labels = missing_labels(wanted, present);
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), json!(labels));
    }
    if let Some(owners) = completed_owners(wanted, present) {
        metadata.insert("ownerReferences".to_owned(), json!(owners));
    }
    if metadata.is_empty() && patch.is_empty() {
        return None;
    }
    metadata.insert("resourceVersion".to_owned(), json!(present.resource_version));
    patch.insert("metadata".to_owned(), Value::Object(metadata));
    Some(Effect::merge(target, Value::Object(patch), None))
}

fn missing_labels<'a>(
    wanted: &'a ObjectMeta,
    present: &ObjectMeta,
) -> BTreeMap<&'a String, &'a String> {
    let has = |key: &String, value: &String| {
        present.labels.as_ref().and_then(|labels| labels.get(key)) == Some(value)
    };
    wanted.labels.iter().flatten().filter(|(key, value)| !has(key, value)).collect()
}

/// The present owners and those that lack, if any lacks. A reference to the same object that is
/// spelled in another way is replaced: v0 writes a kind that the garbage collector cannot find.
fn completed_owners(wanted: &ObjectMeta, present: &ObjectMeta) -> Option<Vec<OwnerReference>> {
    let wanted = wanted.owner_references.as_deref().unwrap_or_default();
    let present = present.owner_references.as_deref().unwrap_or_default();
    if wanted.iter().all(|owner| present.contains(owner)) {
        return None;
    }
    let is_replaced = |owner: &OwnerReference| wanted.iter().any(|new| new.uid == owner.uid);
    let kept = present.iter().filter(|owner| !is_replaced(owner));
    Some(kept.chain(wanted).cloned().collect())
}

fn target<K: KubeResource<DynamicType = ()>>(object: &K) -> Target {
    Target::cluster(resource_of::<K>(), object.meta().name.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests;
