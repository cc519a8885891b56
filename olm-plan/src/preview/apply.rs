//! A Subscription as it is written in a manifest, with the OperatorGroup and the Namespace beside it.

use olm_types::api::{OperatorGroup, Subscription};
use serde_json::Value;

use super::NoPreview;
use super::known::Key;
use super::prepare::namespace_of;
use super::three_way::{applied, without_status};
use super::world::World;

/// Kinds that a preview takes from manifests; others say nothing about what OLM installs.
pub const KINDS: [&str; 3] = ["Namespace", OperatorGroup::KIND, Subscription::KIND];

/// Applies manifests in the order of [`KINDS`], server-side where there is a manager. What is done to the Subscription
/// among them, and its name.
pub(super) fn apply(
    world: &mut World<'_>,
    namespace: &str,
    manifests: &[Value],
    manager: Option<&str>,
) -> Result<(&'static str, String), NoPreview> {
    let mut subscriptions = manifests.iter().filter(|one| one["kind"] == Subscription::KIND);
    let (Some(subscription), None) = (subscriptions.next(), subscriptions.next()) else {
        return Err(NoPreview::NotOneSubscription);
    };
    let key = Key::of(subscription).ok_or(NoPreview::NotOneSubscription)?;
    let is_installed =
        world.get(&key).is_some_and(|it| it.pointer("/status/installedCSV").is_some());
    for kind in KINDS {
        let mut of_kind = manifests.iter().filter(|one| one["kind"] == kind);
        of_kind.try_for_each(|manifest| write(world, manifest, manager))?;
    }
    namespace_of(world, namespace);
    Ok((if is_installed { "upgrade" } else { "install" }, key.name))
}

/// A new object, or what becomes of one that is there.
fn write(world: &mut World<'_>, manifest: &Value, manager: Option<&str>) -> Result<(), NoPreview> {
    let Some(key) = Key::of(manifest) else { return Ok(()) };
    let Some(live) = world.get(&key) else {
        world.create(without_status(manifest));
        return Ok(());
    };
    let object =
        applied(live, manifest, manager).map_err(|managers| NoPreview::SeveralManagers {
            object: format!("{} {}", key.kind, key.name),
            managers: managers.join(", "),
        })?;
    world.put(key, Some(object));
    Ok(())
}
