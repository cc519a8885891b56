//! A Subscription as it is written in a manifest, with the OperatorGroup and the Namespace beside it.

use olm_types::api::{OperatorGroup, Subscription};
use serde_json::{Map, Value};

use super::NoPreview;
use super::known::Key;
use super::prepare::namespace_of;
use super::world::World;

/// Kinds that a preview takes from manifests; others say nothing about what OLM installs.
pub const KINDS: [&str; 3] = ["Namespace", OperatorGroup::KIND, Subscription::KIND];

/// Applies manifests in the order of [`KINDS`]. What is done to the Subscription among them, and its name.
pub(super) fn apply(
    world: &mut World<'_>,
    namespace: &str,
    manifests: &[Value],
) -> Result<(&'static str, String), NoPreview> {
    let mut subscriptions = manifests.iter().filter(|one| one["kind"] == Subscription::KIND);
    let (Some(subscription), None) = (subscriptions.next(), subscriptions.next()) else {
        return Err(NoPreview::NotOneSubscription);
    };
    let key = Key::of(subscription).ok_or(NoPreview::NotOneSubscription)?;
    let is_installed =
        world.get(&key).is_some_and(|it| it.pointer("/status/installedCSV").is_some());
    for kind in KINDS {
        let of_kind = manifests.iter().filter(|one| one["kind"] == kind);
        of_kind.for_each(|manifest| write(world, manifest));
    }
    namespace_of(world, namespace);
    Ok((if is_installed { "upgrade" } else { "install" }, key.name))
}

/// A new object, or the spec of one that is there, with labels and annotations added to those that it has.
fn write(world: &mut World<'_>, manifest: &Value) {
    let Some(key) = Key::of(manifest) else { return };
    let Some(mut object) = world.get(&key).cloned() else {
        world.create(without_status(manifest));
        return;
    };
    if let Some(spec) = manifest.get("spec") {
        object["spec"] = spec.clone();
    }
    for field in ["labels", "annotations"] {
        let Some(added) = manifest["metadata"][field].as_object() else { continue };
        let mut all = object["metadata"][field].as_object().cloned().unwrap_or_default();
        all.extend(added.clone());
        object["metadata"][field] = Value::Object(all);
    }
    world.put(key, Some(object));
}

/// A status is no part of what is applied, and what only the API server writes is none either.
fn without_status(manifest: &Value) -> Value {
    let mut object = manifest.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        let kept = ["name", "namespace", "labels", "annotations", "finalizers"];
        *metadata = std::mem::take(metadata)
            .into_iter()
            .filter(|(field, _)| kept.contains(&field.as_str()))
            .collect::<Map<String, Value>>();
    }
    object
}
