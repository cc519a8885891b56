//! A removal: the Subscription goes, and the CSV with all that it owns. CRDs and custom resources stay.

use std::collections::BTreeSet;

use olm_effect::{Effect, Target};
use olm_lifecycle::install_plan::steps::subscription_name;
use olm_lifecycle::writes::resource_of;
use olm_types::api::{ClusterServiceVersion, Subscription};
use olm_types::bundle::{CatalogKey, Entry};
use serde_json::Value;

use super::finish::{custom_resources, finish};
use super::forward::own_csvs;
use super::operator::{Work, converge};
use super::prepare::{olm_key, subscription};
use super::result::{CrdVerdict, Preview};
use super::world::World;
use super::{NoPreview, PreviewRequest, baseline, plan_objects};
use crate::observed::name;

/// What no removal does, and what a user who does it has to know.
const DELETED_CRD: &str = "deleting it deletes the custom resources of all namespaces";

/// The preview of a removal.
pub(super) fn preview(
    asked: &PreviewRequest,
    operator: &str,
    world: &mut World<'_>,
) -> Result<Preview, NoPreview> {
    let home = asked.namespace.as_str();
    plan_objects::ask(world, home);
    let before = own_csvs(world, home);
    let found = subscription(world, home, operator)?;
    let status = found.status.clone().unwrap_or_default();
    let csv = status.installed_csv.or(status.current_csv).unwrap_or_default();
    let removed = before.iter().find(|one| name(&one.metadata) == csv);
    let mut preview = Preview {
        action: "uninstall",
        namespace: home.to_owned(),
        package: found.spec.name.clone(),
        subscription: name(&found.metadata).to_owned(),
        ..Preview::default()
    };
    if let Some(removed) = removed {
        let left: Vec<&ClusterServiceVersion> =
            before.iter().filter(|one| name(&one.metadata) != csv).collect();
        preview.unused = unused(world, home, removed, &left);
        preview.problems = missed(removed, &left);
        crds(world, removed, &mut preview);
    }
    world.delete(&olm_key(Subscription::KIND, home, &preview.subscription));
    if removed.is_some() {
        remove(asked, world, &csv, &mut preview);
    }
    finish(asked, world, &before, &mut preview);
    Ok(preview)
}

/// Deletes a CSV as a user does; olm-operator takes away what no garbage collector removes.
fn remove(asked: &PreviewRequest, world: &mut World<'_>, csv: &str, preview: &mut Preview) {
    let csvs = BTreeSet::from([csv.to_owned()]);
    baseline::assume(asked, world, &csvs);
    let target = Target::namespaced(resource_of::<ClusterServiceVersion>(), &asked.namespace, csv);
    world.execute(&[Effect::delete(target)]);
    converge(world, &Work { asked, csvs }, &mut preview.problems);
}

fn crd_names(csv: &ClusterServiceVersion, owned: bool) -> BTreeSet<String> {
    let crds = csv.spec.customresourcedefinitions.iter();
    let lists = crds.map(|crds| if owned { &crds.owned } else { &crds.required });
    lists.flatten().map(|crd| crd.name.clone()).collect()
}

/// Who of those that stay requires what the removed CSV owns.
fn missed(removed: &ClusterServiceVersion, left: &[&ClusterServiceVersion]) -> Vec<String> {
    let owned = crd_names(removed, true);
    let also = |crd: &String| left.iter().any(|csv| crd_names(csv, true).contains(crd));
    let mut found = Vec::new();
    for csv in left {
        let requires = crd_names(csv, false);
        let missed = requires.intersection(&owned).filter(|crd| !also(crd));
        let who = name(&csv.metadata);
        found
            .extend(missed.map(|crd| format!("{who} requires {crd}, which no operator would own")));
    }
    found
}

/// The Subscriptions that OLM has made for what only the removed CSV requires.
fn unused(
    world: &World<'_>,
    home: &str,
    removed: &ClusterServiceVersion,
    left: &[&ClusterServiceVersion],
) -> Vec<String> {
    let required = crd_names(removed, false);
    let all: Vec<Subscription> = world.typed(Subscription::KIND, Some(home));
    let generated = all.iter().filter(|one| name(&one.metadata) == generated_name(one));
    let is_unused = |one: &&Subscription| {
        let csv = one.status.as_ref().and_then(|status| status.installed_csv.as_deref());
        let owner = left.iter().find(|csv_| Some(name(&csv_.metadata)) == csv);
        owner.is_some_and(|owner| {
            let owned = crd_names(owner, true);
            let needed = left.iter().any(|other| !crd_names(other, false).is_disjoint(&owned));
            !owned.is_disjoint(&required) && !needed
        })
    };
    generated.filter(is_unused).map(|one| name(&one.metadata).to_owned()).collect()
}

/// The name that OLM gives to the Subscription of a dependency.
fn generated_name(one: &Subscription) -> String {
    let spec = &one.spec;
    let catalog = CatalogKey::new(&spec.source_namespace, &spec.source);
    let channel = spec.channel.as_deref().unwrap_or_default();
    subscription_name(&Entry::new(catalog, &spec.name, channel, ""))
}

/// The CRDs of the removed CSV, which stay, with their custom resources.
fn crds(world: &mut World<'_>, removed: &ClusterServiceVersion, preview: &mut Preview) {
    for crd in crd_names(removed, true) {
        for object in custom_resources(world, &crd).unwrap_or_default() {
            preview.operands.push(described(&object));
        }
        preview.crds.push(CrdVerdict {
            name: crd,
            verdict: "stays",
            detail: DELETED_CRD.to_owned(),
            custom_resources: None,
        });
    }
}

/// KIND NAMESPACE/NAME, and what holds an object that is deleted.
fn described(object: &Value) -> String {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/kind");
    let finalizers = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    let finalizers: Vec<&str> =
        finalizers.into_iter().flatten().filter_map(Value::as_str).collect();
    let held = match finalizers.as_slice() {
        [] => String::new(),
        names => format!(" (finalizers: {})", names.join(", ")),
    };
    match text("/metadata/namespace") {
        "" => format!("{kind} {}{held}", text("/metadata/name")),
        namespace => format!("{kind} {namespace}/{}{held}", text("/metadata/name")),
    }
}
