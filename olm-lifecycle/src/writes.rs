//! Typed objects turned into effects.
//!
//! One place knows how a typed object names itself ([`target_of`]), and how a change of its status
//! or its metadata becomes a guarded write ([`status_write`], `patch_metadata`). An unchanged
//! status yields no effect at all.

use k8s_openapi::NamespaceResourceScope;
use kube_core::{Resource as KubeResource, ResourceExt};
use olm_effect::{Action, Effect, Resource, Subresource, Target};
use olm_types::api::ClusterServiceVersion;
use serde::Serialize;
use serde_json::{Value, json};

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

/// A merge patch of a CSV's metadata, valid only for the state that was observed. Patches keep
/// whatever else the object holds, known to this build or not.
pub(crate) fn patch_metadata(csv: &ClusterServiceVersion, mut metadata: Value) -> Effect {
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("resourceVersion".to_owned(), json!(csv.metadata.resource_version));
    }
    let action = Action::MergePatch {
        patch: json!({"metadata": metadata}),
        observed: None,
        subresource: Subresource::Main,
    };
    Effect::new(target_of(csv), action)
}
