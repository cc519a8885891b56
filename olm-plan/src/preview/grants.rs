//! Rights that accounts hold by the roles and bindings that a preview writes or removes, whoever asked for them:
//! a CSV, its webhooks, or an OperatorCondition; and by the roles that Kubernetes fills with these.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kube_core::Resource as _;
use olm_effect::Target;
use olm_lifecycle::writes::resource_of;
use serde_json::Value;

use super::known::Key;
use super::permissions::{Right, escalations};
use super::world::World;

/// The scope of a right in all namespaces.
pub const CLUSTER: &str = "cluster";

/// A binding before and after.
type Pair = (Option<Value>, Option<Value>);

/// What is held before and afterwards by the bindings that are concerned. Accounts of `home` are named without
/// their namespace.
pub(super) fn of_changes(world: &mut World<'_>, home: &str) -> (Vec<Right>, Vec<Right>) {
    let pairs = bindings(world);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (before, after) in pairs.into_values() {
        if let Some(binding) = before {
            old.extend(rights(world, home, &binding, true));
        }
        if let Some(binding) = after {
            new.extend(rights(world, home, &binding, false));
        }
    }
    (old, new)
}

/// The bindings that change, and those of roles that change.
fn bindings(world: &World<'_>) -> BTreeMap<Key, Pair> {
    let mut found: BTreeMap<Key, Pair> = BTreeMap::new();
    let mut roles: BTreeSet<Key> = world.following().cloned().collect();
    for (key, before, after) in world.changes() {
        if is_binding(key) {
            found.insert(key.clone(), (before.cloned(), after.cloned()));
        } else if key.kind == Role::kind(&()) || key.kind == ClusterRole::kind(&()) {
            roles.insert(key.clone());
        }
    }
    for (key, object) in world.objects().filter(|(key, _)| is_binding(key)) {
        let role = role_ref(object).map(|role| role_key(&role, &key.namespace));
        if !found.contains_key(key) && role.is_some_and(|role| roles.contains(&role)) {
            found.insert(key.clone(), (Some(object.clone()), Some(object.clone())));
        }
    }
    found
}

fn is_binding(key: &Key) -> bool {
    key.kind == RoleBinding::kind(&()) || key.kind == ClusterRoleBinding::kind(&())
}

fn role_ref(binding: &Value) -> Option<RoleRef> {
    serde_json::from_value(binding.get("roleRef")?.clone()).ok()
}

fn role_key(role: &RoleRef, namespace: &str) -> Key {
    let is_of_cluster = role.kind == ClusterRole::kind(&());
    Key {
        group: ClusterRole::group(&()).into_owned(),
        kind: role.kind.clone(),
        namespace: if is_of_cluster { String::new() } else { namespace.to_owned() },
        name: role.name.clone(),
    }
}

/// What a binding gives to ServiceAccounts.
fn rights(world: &mut World<'_>, home: &str, binding: &Value, is_before: bool) -> Vec<Right> {
    let namespace = binding.pointer("/metadata/namespace").and_then(Value::as_str);
    let namespace = namespace.unwrap_or_default().to_owned();
    let Some(role) = role_ref(binding) else { return Vec::new() };
    let rules = rules(world, &role_key(&role, &namespace), is_before);
    let subjects = binding.get("subjects").cloned().unwrap_or_default();
    let subjects: Vec<Subject> = serde_json::from_value(subjects).unwrap_or_default();
    let scope = if namespace.is_empty() { CLUSTER.to_owned() } else { namespace };
    let mut found = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.kind == "ServiceAccount") {
        let account = match subject.namespace.as_deref() {
            Some(other) if other != home => format!("{other}/{}", subject.name),
            _ => subject.name.clone(),
        };
        found.extend(rules.iter().map(|rule| Right {
            account: account.clone(),
            scope: scope.clone(),
            escalations: escalations(rule),
            rule: rule.clone(),
        }));
    }
    found
}

fn rules(world: &mut World<'_>, key: &Key, is_before: bool) -> Vec<PolicyRule> {
    let before = is_before.then(|| world.before(key).cloned()).flatten();
    let role = match (before, key.namespace.as_str()) {
        (Some(role), _) => Some(role),
        (None, "") => world.live(&Target::cluster(resource_of::<ClusterRole>(), &key.name)),
        (None, namespace) => {
            world.live(&Target::namespaced(resource_of::<Role>(), namespace, &key.name))
        }
    };
    let rules = role.and_then(|role| role.get("rules").cloned()).unwrap_or_default();
    serde_json::from_value(rules).unwrap_or_default()
}
