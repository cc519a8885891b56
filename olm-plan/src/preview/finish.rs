//! What follows an InstallPlan: the new CSV runs, the old one goes with what it owns, and the
//! Subscriptions say so. Then all that was written becomes the result.

use std::collections::BTreeSet;

use olm_effect::{Resource, Target};
use olm_lifecycle::install_plan::execution::{Reply, Request};
use olm_lifecycle::install_plan::steps::subscription_name;
use olm_lifecycle::subscription::resolution::{Choice, Namespace, Selection};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription};
use olm_types::labels::{OWNER, OWNER_NAMESPACE};
use serde_json::{Value, json};

use super::change::Change;
use super::forward::own_csvs;
use super::known::{Key, Known};
use super::permissions::{Rights, images};
use super::prepare::olm_key;
use super::result::{Images, Preview};
use super::world::World;

/// Kinds that come and go without a user's asking.
const PASSING: [&str; 1] = ["InstallPlan"];

/// What olm-operator does once the steps are executed.
pub(super) fn follow_up(
    world: &mut World<'_>,
    namespace: &Namespace,
    selection: &Selection,
    selected: &[Choice],
) {
    let home = &namespace.name;
    for choice in selected {
        let key = olm_key(ClusterServiceVersion::KIND, home, &choice.entry.name);
        run(world, &key);
        let old = choice.replaces.iter().filter(|old| namespace.csvs.contains_key(*old));
        for old in old {
            retire(world, &olm_key(ClusterServiceVersion::KIND, home, old));
        }
        let asks = selection.updates.iter().filter(|(_, csv)| **csv == *choice.entry.name);
        let mut names: Vec<String> = asks.map(|(name, _)| name.clone()).collect();
        names.push(subscription_name(&choice.entry));
        for name in names {
            let key = olm_key(Subscription::KIND, home, &name);
            let Some(mut object) = world.get(&key).cloned() else { continue };
            let csv = &*choice.entry.name;
            object["status"] = json!({"currentCSV": csv, "installedCSV": csv, "state": "AtLatestKnown",
                "lastUpdated": null});
            world.put(key, Some(object));
        }
    }
}

/// A CSV goes, with what it owns: by owner references, and by labels where these cannot be.
pub(super) fn retire(world: &mut World<'_>, key: &Key) {
    world.delete(key);
    let label = |object: &Value, name: &str| {
        let labels = object.pointer("/metadata/labels");
        labels.and_then(|labels| Some(labels.get(name)?.as_str()?.to_owned())).unwrap_or_default()
    };
    let is_owned = |(place, object): &(&Key, &Value)| {
        place.namespace.is_empty()
            && place.kind != "CustomResourceDefinition"
            && label(object, OWNER) == key.name
            && label(object, OWNER_NAMESPACE) == key.namespace
    };
    let owned: Vec<Key> =
        world.objects().filter(is_owned).map(|(place, _)| place.clone()).collect();
    owned.iter().for_each(|place| world.delete(place));
}

/// A CSV succeeds: its Deployments and webhooks are there.
fn run(world: &mut World<'_>, key: &Key) {
    let Some(mut csv) = world.get(key).cloned() else { return };
    csv["status"] = json!({"phase": "Succeeded"});
    let uid = csv.pointer("/metadata/uid").cloned().unwrap_or_default();
    world.put(key.clone(), Some(csv.clone()));
    for mut object in components(&csv) {
        object["metadata"]["ownerReferences"] = json!([{ "uid": uid }]);
        let Some(component) = Key::of(&object) else { continue };
        match world.get(&component) {
            Some(_) => world.put(component, Some(object)),
            None => drop(world.create(object)),
        }
    }
}

/// What olm-operator makes of a CSV beside its rights: Deployments and webhook configurations.
fn components(csv: &Value) -> Vec<Value> {
    let home = csv.pointer("/metadata/namespace").cloned().unwrap_or_default();
    let list = |path: &str| csv.pointer(path).and_then(Value::as_array).into_iter().flatten();
    let deployments = list("/spec/install/spec/deployments").map(|one| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": one["spec"],
            "metadata": {"name": one["name"], "namespace": home}})
    });
    let hooks = list("/spec/webhookdefinitions").filter_map(|hook| {
        let kind = match hook["type"].as_str()? {
            "MutatingAdmissionWebhook" => "MutatingWebhookConfiguration",
            "ValidatingAdmissionWebhook" => "ValidatingWebhookConfiguration",
            _ => return None,
        };
        Some(json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "webhooks": [hook],
            "metadata": {"name": hook["generateName"]}}))
    });
    deployments.chain(hooks).collect()
}

/// Adds what CSVs have made, as they say it themselves: a comparison with what the API server has made of it
/// would show its defaults. Deployments that were read give way.
pub fn add_components(known: &mut Known) {
    let is_own = |(key, csv): &(&Key, &Value)| {
        let copied = csv
            .pointer("/metadata/labels")
            .is_some_and(|labels| labels.get(olm_types::labels::COPIED_FROM).is_some());
        key.kind == ClusterServiceVersion::KIND
            && !copied
            && csv.pointer("/status/phase").is_some_and(|phase| phase == "Succeeded")
    };
    let mut made = Vec::new();
    for (_, csv) in known.objects.iter().filter(is_own) {
        let uid = csv.pointer("/metadata/uid").cloned().unwrap_or_default();
        for mut object in components(csv) {
            object["metadata"]["ownerReferences"] = json!([{ "uid": uid }]);
            made.push(object);
        }
    }
    made.into_iter().for_each(|object| known.add(object));
}

/// Makes the result of all that was written.
pub(super) fn finish(
    world: &mut World<'_>,
    before: &[ClusterServiceVersion],
    preview: &mut Preview,
) {
    let after = own_csvs(world, &preview.namespace);
    let groups: Vec<OperatorGroup> = world.typed(OperatorGroup::KIND, Some(&preview.namespace));
    let is_global = groups
        .iter()
        .any(|group| group.spec.target_namespaces.is_empty() && group.spec.selector.is_none());
    preview.rights = Rights::between(before, &after, is_global);
    let (old, new) = (images(before), images(&after));
    preview.images = Images {
        gained: new.difference(&old).cloned().collect(),
        lost: old.difference(&new).cloned().collect(),
    };
    count_custom_resources(world, preview);
    preview.changes = changes(world);
    preview.also_approved = also_approved(preview);
    preview.unknown.append(&mut world.unlisted);
    preview.unknown.dedup();
}

fn changes(world: &World<'_>) -> Vec<Change> {
    let changes = world.changes().filter(|(key, _, _)| !PASSING.contains(&key.kind.as_str()));
    let mut changes: Vec<Change> =
        changes.filter_map(|(key, before, after)| Change::of(key, before, after)).collect();
    changes.sort_by(|a, b| {
        (a.action, &a.kind, &a.namespace, &a.name).cmp(&(b.action, &b.kind, &b.namespace, &b.name))
    });
    changes
}

fn also_approved(preview: &Preview) -> Vec<String> {
    let manual = preview.hops.iter().filter(|hop| hop.approval == "Manual");
    let others = manual.flat_map(|hop| &hop.bundles).filter(|it| it.package != preview.package);
    let names: BTreeSet<String> = others.map(|bundle| bundle.csv.clone()).collect();
    names.into_iter().collect()
}

/// Counts the custom resources of CRDs that are there already.
fn count_custom_resources(world: &mut World<'_>, preview: &mut Preview) {
    for crd in &mut preview.crds {
        crd.custom_resources = if crd.verdict == "new" {
            Some(0)
        } else {
            custom_resources(world, &crd.name).map(|found| found.len())
        };
    }
}

/// The objects of a CRD, in the version that is stored.
pub(super) fn custom_resources(world: &mut World<'_>, crd: &str) -> Option<Vec<Value>> {
    let definitions = Resource::new(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    let read = Request::Read(Target::cluster(definitions, crd));
    let Reply::Live(Some(object)) = world.answer(read) else { return None };
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let versions = object.pointer("/spec/versions").and_then(Value::as_array)?;
    let version = versions.iter().find(|version| version["storage"] == true)?;
    let version = version["name"].as_str().unwrap_or_default();
    let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
    let resource = Resource::new(group, version, kind, text("/spec/names/plural"));
    match world.list(&resource) {
        Reply::Page(found, _) => Some(found),
        _ => None,
    }
}
