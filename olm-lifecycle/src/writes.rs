//! Typed objects turned into effects.
//!
//! One place knows how a typed object names itself ([`target_of`]) and how a change of its status
//! becomes a guarded write ([`status_write`]). An unchanged status yields no effect at all.

use k8s_openapi::NamespaceResourceScope;
use kube_core::{Resource as KubeResource, ResourceExt};
use olm_effect::{Effect, Resource, Target};
use serde::Serialize;

/// The kind `K` as an effect names it.
pub fn resource_of<K: KubeResource<DynamicType = ()>>() -> Resource {
    Resource::new(&K::group(&()), &K::version(&()), &K::kind(&()), &K::plural(&()))
}

/// A namespaced object of kind `K`.
pub fn target_of<K>(object: &K) -> Target
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let namespace = object.namespace().unwrap_or_default();
    Target::namespaced(resource_of::<K>(), &namespace, &object.name_any())
}

/// The write that turns `observed` into `wanted`, guarded by the resourceVersion of `wanted`
/// (taken over from `observed`); nothing when both are equal.
pub fn status_write<K>(observed: &K, wanted: &K) -> Option<Effect>
where
    K: KubeResource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    let before = serde_json::to_value(observed).ok()?;
    let after = serde_json::to_value(wanted).ok()?;
    (before != after).then(|| Effect::status(target_of(wanted), after, Some(before)))
}
