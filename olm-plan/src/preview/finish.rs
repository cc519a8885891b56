//! What follows an InstallPlan: Subscriptions say what is installed, and olm-operator works until the new CSVs
//! have succeeded. Then all that was written becomes the result.

use std::collections::BTreeSet;

use olm_effect::{Resource, Target};
use olm_lifecycle::install_plan::execution::{Reply, Request, copy_in_the_way};
use olm_lifecycle::install_plan::steps::subscription_name;
use olm_lifecycle::subscription::resolution::{Choice, Selection};
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::{Value, json};

use super::change::{Change, Written};
use super::forward::own_csvs;
use super::hop::Done;
use super::known::Key;
use super::operator::{Work, converge, remove_certificates};
use super::permissions::{Rights, images};
use super::prepare::olm_key;
use super::result::{Images, Preview};
use super::world::World;
use super::{PreviewRequest, baseline, copies, grants};
use crate::settings::Flavour;

/// Kinds that come and go without a user's asking.
const PASSING: [&str; 1] = ["InstallPlan"];

/// What olm-operator does once the steps are executed.
pub(super) fn follow_up(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    done: &Done,
    preview: &mut Preview,
) {
    let home = asked.namespace.as_str();
    let Done { namespace, selection, selected, unknown, .. } = done;
    // In the place of a copy the operator of another namespace is at work, and nothing becomes of it here.
    let is_copy = |choice: &&Choice| {
        let key = olm_key(ClusterServiceVersion::KIND, home, &choice.entry.name);
        world.get(&key).and_then(copy_in_the_way).is_some()
    };
    let selected: Vec<Choice> =
        selected.iter().filter(|choice| !is_copy(choice)).cloned().collect();
    subscriptions(world, home, selection, &selected);
    let mut csvs = BTreeSet::new();
    let mut replaced_by_unknown = Vec::new();
    for choice in &selected {
        let is_unknown = unknown.contains(&*choice.entry.name);
        let old = choice.replaces.iter().filter(|old| namespace.csvs.contains_key(*old));
        match is_unknown {
            true => replaced_by_unknown.extend(old.cloned()),
            false => {
                csvs.insert(choice.entry.name.to_string());
                csvs.extend(old.cloned());
            }
        }
    }
    baseline::assume(asked, world, &csvs);
    if asked.settings.flavour == Flavour::V0 {
        let old = selected.iter().filter_map(|choice| choice.replaces.clone());
        let replaced: BTreeSet<String> = old.filter(|old| csvs.contains(old)).collect();
        remove_certificates(world, home, &replaced);
    }
    converge(world, &Work { asked, csvs }, &mut preview.problems);
    for old in replaced_by_unknown {
        world.delete(&olm_key(ClusterServiceVersion::KIND, home, &old));
    }
}

/// Subscriptions that ask for what is there now say so.
fn subscriptions(world: &mut World<'_>, home: &str, selection: &Selection, selected: &[Choice]) {
    for choice in selected {
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

/// Makes the result of all that was written.
pub(super) fn finish(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    before: &[ClusterServiceVersion],
    preview: &mut Preview,
) {
    world.aggregate();
    let after = own_csvs(world, &preview.namespace);
    let (held_before, held_after) = grants::of_changes(world, &preview.namespace);
    preview.rights = Rights::of(&held_before, &held_after, before, &after);
    let (old, new) = (images(before), images(&after));
    preview.images = Images {
        gained: new.difference(&old).cloned().collect(),
        lost: old.difference(&new).cloned().collect(),
    };
    count_custom_resources(world, preview);
    preview.copies = copies::between(asked, world, before, &after);
    preview.written = written(world);
    preview.changes = changes(&preview.written);
    preview.also_approved = also_approved(preview);
    preview.unknown.append(&mut world.unlisted);
    preview.unknown.extend(unread_version(world, before, &after));
    preview.unknown.dedup();
}

/// What new CSVs ask of the API server's version, where that was not read. Not by their names: of a CSV that is named
/// as unknown the manifests were not read.
fn unread_version(
    world: &World<'_>,
    before: &[ClusterServiceVersion],
    after: &[ClusterServiceVersion],
) -> Vec<String> {
    if world.known().server_version.is_some() {
        return Vec::new();
    }
    let is_new = |csv: &&ClusterServiceVersion| {
        before.iter().all(|old| old.metadata.name != csv.metadata.name)
    };
    let asking = after.iter().filter(is_new).filter_map(|csv| {
        let minimum = csv.spec.min_kube_version.as_deref().filter(|text| !text.is_empty())?;
        Some(format!(
            "version of the API server, of which {minimum} is needed (with --offline, --kube-version says it)"
        ))
    });
    asking.collect()
}

fn written(world: &World<'_>) -> Vec<Written> {
    let changes = world.changes().filter(|(key, _, _)| !PASSING.contains(&key.kind.as_str()));
    let written = |(key, before, after): (&Key, Option<&Value>, Option<&Value>)| Written {
        key: key.clone(),
        before: before.cloned(),
        after: after.cloned(),
    };
    changes.map(written).collect()
}

/// What becomes of each object, in the order in which it is shown.
pub fn changes(written: &[Written]) -> Vec<Change> {
    let changes = written.iter();
    let mut changes: Vec<Change> = changes
        .filter_map(|one| Change::of(&one.key, one.before.as_ref(), one.after.as_ref()))
        .collect();
    changes.sort_by(|a, b| {
        (a.action, &a.kind, &a.namespace, &a.name).cmp(&(b.action, &b.kind, &b.namespace, &b.name))
    });
    changes
}

fn also_approved(preview: &Preview) -> Vec<String> {
    let waiting = preview.hops.iter().filter(|hop| hop.waits());
    let others = waiting.flat_map(|hop| &hop.bundles).filter(|it| it.package != preview.package);
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
