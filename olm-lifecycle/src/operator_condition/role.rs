//! The rights of the operator's accounts on its OperatorCondition (spec olm-operator 6.4).

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource as KubeResource;
use olm_effect::{Action, Effect, Propagation};
use olm_types::api::OperatorCondition;
use olm_types::labels::{MANAGED, MANAGED_VALUE};
use olm_types::owner::controller_owner;
use serde_json::{Value, json};

use crate::writes::target_of;

const RBAC: &str = "rbac.authorization.k8s.io";

/// The write that makes the Role as it should be; nothing when it is.
pub(super) fn role(condition: &OperatorCondition, present: Option<&Role>) -> Option<Effect> {
    let wanted = Role { metadata: metadata(condition), rules: Some(vec![rule(condition)]) };
    let Some(present) = present else {
        let object = serde_json::to_value(&wanted).unwrap_or_default();
        return Some(Effect::create(target_of(&wanted), object));
    };
    let in_step =
        is_owned_alike(&wanted.metadata, &present.metadata) && wanted.rules == present.rules;
    let mut patch = patch(&wanted.metadata);
    set(&mut patch, "rules", json!(wanted.rules));
    (!in_step).then(|| Effect::merge(target_of(&wanted), patch, None))
}

/// The write that makes the RoleBinding as it should be; nothing when it is. The role of a binding
/// cannot be changed: a binding to another one is deleted, and made anew when it is gone.
pub(super) fn role_binding(
    condition: &OperatorCondition,
    present: Option<&RoleBinding>,
) -> Option<Effect> {
    let wanted = RoleBinding {
        metadata: metadata(condition),
        role_ref: RoleRef {
            api_group: Some(RBAC.to_owned()),
            kind: Role::kind(&()).into_owned(),
            name: condition.metadata.name.clone().unwrap_or_default(),
        },
        subjects: Some(condition.spec.service_accounts.iter().map(|name| account(name)).collect()),
    };
    let Some(present) = present else {
        let object = serde_json::to_value(&wanted).unwrap_or_default();
        return Some(Effect::create(target_of(&wanted), object));
    };
    if wanted.role_ref != present.role_ref {
        return Some(delete(present));
    }
    let subjects = present.subjects.as_deref().unwrap_or_default();
    let in_step = is_owned_alike(&wanted.metadata, &present.metadata)
        && wanted.subjects.as_deref() == Some(subjects);
    let mut patch = patch(&wanted.metadata);
    set(&mut patch, "subjects", json!(wanted.subjects));
    (!in_step).then(|| Effect::merge(target_of(&wanted), patch, None))
}

fn delete(binding: &RoleBinding) -> Effect {
    let action = Action::Delete {
        uid: binding.metadata.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Effect::new(target_of(binding), action)
}

fn metadata(condition: &OperatorCondition) -> ObjectMeta {
    let name = condition.metadata.name.as_deref().unwrap_or_default();
    let uid = condition.metadata.uid.as_deref().unwrap_or_default();
    let version = OperatorCondition::api_version(&());
    let owner = controller_owner(&version, OperatorCondition::KIND, name, uid);
    ObjectMeta {
        name: condition.metadata.name.clone(),
        namespace: condition.metadata.namespace.clone(),
        labels: Some(BTreeMap::from([(MANAGED.to_owned(), MANAGED_VALUE.to_owned())])),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    }
}

fn rule(condition: &OperatorCondition) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![OperatorCondition::group(&()).into_owned()]),
        resources: Some(vec![OperatorCondition::plural(&()).into_owned()]),
        resource_names: Some(vec![condition.metadata.name.clone().unwrap_or_default()]),
        verbs: ["get", "update", "patch"].map(str::to_owned).into(),
        ..PolicyRule::default()
    }
}

/// Without a namespace: an account of the binding's own.
fn account(name: &str) -> Subject {
    Subject { kind: "ServiceAccount".to_owned(), name: name.to_owned(), ..Subject::default() }
}

fn is_owned_alike(wanted: &ObjectMeta, present: &ObjectMeta) -> bool {
    let labels = present.labels.as_ref();
    let has = |key: &String, value: &String| labels.and_then(|all| all.get(key)) == Some(value);
    wanted.owner_references == present.owner_references
        && wanted.labels.iter().flatten().all(|(key, value)| has(key, value))
}

fn patch(wanted: &ObjectMeta) -> Value {
    json!({"metadata": {"labels": wanted.labels, "ownerReferences": wanted.owner_references}})
}

fn set(patch: &mut Value, field: &str, value: Value) {
    if let Value::Object(fields) = patch {
        fields.insert(field.to_owned(), value);
    }
}
