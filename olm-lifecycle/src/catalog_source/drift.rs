//! Brings what serves a catalog in step with what is wanted: creates what is not there, and patches
//! only what differs. What others added to an object stays.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{LocalObjectReference, Service, ServiceAccount, ServicePort};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube_core::{Resource as KubeResource, ResourceExt};
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::{labels, owner};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::role_writes::change_of;
use crate::writes::target_of;

/// The write that makes a NetworkPolicy as wanted.
pub(super) fn policy(wanted: &NetworkPolicy, present: Option<&NetworkPolicy>) -> Vec<Effect> {
    ensure(wanted, present, |present| match (&present.spec, &wanted.spec) {
        (present, wanted) if present == wanted => Map::new(),
        (present, wanted) => field("spec", exactly(&json!(present), &json!(wanted))),
    })
}

/// The write that makes a ServiceAccount as wanted. Pull secrets that others added stay; those that
/// the CatalogSource lost stay, too, since their owner is unknown. An account that a user
/// else made under this name is used as it is.
pub(super) fn account(wanted: &ServiceAccount, present: Option<&ServiceAccount>) -> Vec<Effect> {
    if present.is_some_and(|present| {
        !present.labels().contains_key(labels::MANAGED) && !is_owned(present, wanted)
    }) {
        return Vec::new();
    }
    ensure(wanted, present, |present| {
        let has = present.image_pull_secrets.clone().unwrap_or_default();
        let asked = wanted.image_pull_secrets.iter().flatten();
        let lacking: Vec<LocalObjectReference> =
            asked.filter(|secret| !has.contains(secret)).cloned().collect();
        if lacking.is_empty() {
            return Map::new();
        }
        field("imagePullSecrets", json!([has, lacking].concat()))
    })
}

/// The write that makes a Role as wanted.
pub(super) fn role(wanted: &Role, present: Option<&Role>) -> Vec<Effect> {
    ensure(wanted, present, |present| {
        if present.rules == wanted.rules {
            return Map::new();
        }
        field("rules", json!(wanted.rules))
    })
}

/// The writes that make a RoleBinding as wanted; one to another Role must be made anew.
pub(super) fn binding(wanted: &RoleBinding, present: Option<&RoleBinding>) -> Vec<Effect> {
    if let Some(present) = present.filter(|present| present.role_ref != wanted.role_ref) {
        return vec![delete(present, None), create(wanted)];
    }
    ensure(wanted, present, |present| {
        if present.subjects == wanted.subjects {
            return Map::new();
        }
        field("subjects", json!(wanted.subjects))
    })
}

/// The write that makes a Service as wanted. Its address and what the API server filled in stay.
pub(super) fn service(wanted: &Service, present: Option<&Service>) -> Vec<Effect> {
    ensure(wanted, present, |present| {
        let (has, asked) = (present.spec.as_ref(), wanted.spec.as_ref());
        let mut spec = Map::new();
        let selector = |spec: Option<&k8s_openapi::api::core::v1::ServiceSpec>| {
            spec.and_then(|spec| spec.selector.clone()).unwrap_or_default()
        };
        if selector(has) != selector(asked) {
            let difference = exactly(&json!(selector(has)), &json!(selector(asked)));
            spec.insert("selector".to_owned(), difference);
        }
        let ports = asked.and_then(|spec| spec.ports.as_deref()).unwrap_or_default();
        if !same_ports(has.and_then(|spec| spec.ports.as_deref()).unwrap_or_default(), ports) {
            spec.insert("ports".to_owned(), json!(ports));
        }
        if spec.is_empty() { Map::new() } else { field("spec", Value::Object(spec)) }
    })
}

/// Creates a namespaced object; one with a prefix for a name has none yet.
pub(super) fn create<K>(wanted: &K) -> Effect
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    Effect::create(named_target(wanted), serde_json::to_value(wanted).unwrap_or_default())
}

/// Deletes exactly this object; `grace` is in seconds.
pub(super) fn delete<K>(object: &K, grace: Option<u32>) -> Effect
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let action = Action::Delete {
        uid: object.meta().uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: grace,
    };
    Effect::new(target_of(object), action)
}

fn ensure<K>(
    wanted: &K,
    present: Option<&K>,
    content: impl FnOnce(&K) -> Map<String, Value>,
) -> Vec<Effect>
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    let effect = match present {
        None => Some(create(wanted)),
        Some(present) => {
            change_of(target_of(wanted), wanted.meta(), present.meta(), content(present))
        }
    };
    effect.into_iter().collect()
}

fn is_owned<K: KubeResource>(present: &K, wanted: &K) -> bool {
    let owners = wanted.meta().owner_references.iter().flatten();
    owners.into_iter().any(|wanted| owner::is_owned_by_uid(present.meta(), &wanted.uid))
}

/// `name_any` would give the prefix of a name for the name.
fn named_target<K>(object: &K) -> Target
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Target { name: object.meta().name.clone().unwrap_or_default(), ..target_of(object) }
}

fn field(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

/// Ports are the same when what we say about them is; the API server adds the protocol.
fn same_ports(present: &[ServicePort], wanted: &[ServicePort]) -> bool {
    let said = |port: &ServicePort| {
        let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
        (port.name.clone(), port.port, port.target_port.clone(), protocol)
    };
    present.iter().map(said).eq(wanted.iter().map(said))
}

/// The merge patch that leaves nothing of `present` beside `wanted`.
fn exactly(present: &Value, wanted: &Value) -> Value {
    let (Some(present), Some(wanted)) = (present.as_object(), wanted.as_object()) else {
        return wanted.clone();
    };
    let removed = present.keys().filter(|key| !wanted.contains_key(*key));
    let removed = removed.map(|key| (key.clone(), Value::Null));
    let changed = wanted.iter().filter(|(key, value)| present.get(*key) != Some(value));
    let changed = changed.map(|(key, value)| {
        (key.clone(), exactly(present.get(key).unwrap_or(&Value::Null), value))
    });
    removed.chain(changed).collect::<Map<_, _>>().into()
}
