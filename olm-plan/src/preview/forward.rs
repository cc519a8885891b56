//! Installations and upgrades: one InstallPlan after the other, as OLM would make and execute them.

use std::collections::BTreeMap;

use olm_lifecycle::install_plan::execution::copy_in_the_way;
use olm_lifecycle::subscription::holding;
use olm_resolver::Refusal;
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription};
use olm_types::bundle::Universe;
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

use super::apply::apply;
use super::group::group;
use super::hop::{Reconciled, Reconciler};
use super::prepare::{default_account, follow, forget_pending, olm_key, subscribe, subscription};
use super::result::{Bundle, Preview};
use super::waiting::pending;
use super::world::World;
use super::{NoPreview, Operation, PreviewRequest, finish, plan_objects};

/// More InstallPlans than this are not previewed.
const MOST_HOPS: usize = 100;

/// The preview of an installation or an upgrade.
pub(super) fn preview(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    universe: &dyn Universe,
) -> Result<Preview, NoPreview> {
    let home = asked.namespace.as_str();
    let csvs_before = own_csvs(world, home);
    plan_objects::ask(world, home);
    default_account(world, home);
    let (action, name, to) = match &asked.wanted {
        Operation::Install(install) => {
            ("install", subscribe(world, home, install, universe)?, None)
        }
        Operation::Apply { manifests, field_manager } => {
            let (action, name) = apply(world, home, manifests, field_manager.as_deref())?;
            (action, name, None)
        }
        Operation::Upgrade { operator, to, channel } => {
            let found = subscription(world, home, operator)?;
            let name = found.metadata.name.unwrap_or_default();
            if let Some(channel) = channel {
                follow(world, home, &name, channel);
            }
            ("upgrade", name, to.as_deref())
        }
        Operation::Uninstall { operator } => ("uninstall", operator.clone(), None),
    };
    let pending = pending(asked, world);
    forget_pending(world, home);
    let subscription = subscription(world, home, &name)?;
    let mut preview = Preview {
        action,
        namespace: home.to_owned(),
        package: subscription.spec.name.clone(),
        subscription: name.clone(),
        ..Preview::default()
    };
    let reconciler = Reconciler { asked, universe, pending };
    hops(&reconciler, world, &subscription, to, &mut preview);
    if action == "install" {
        preview.manifests = manifests(world, &preview);
    }
    finish::finish(asked, world, &csvs_before, &mut preview);
    Ok(preview)
}

/// The plans up to the version that is asked for, or until one waits for a user, or nothing is left.
fn hops(
    reconciler: &Reconciler<'_>,
    world: &mut World<'_>,
    subscription: &Subscription,
    to: Option<&str>,
    preview: &mut Preview,
) {
    let asked = reconciler.asked;
    let name = &preview.subscription.clone();
    if let Some(annotation) = holding(&asked.settings.as_read(subscription.clone())) {
        preview.problems.push(format!("Subscription {name} has annotation {annotation}"));
        return;
    }
    for _ in 0..MOST_HOPS {
        let reconciled = reconciler.reconcile(world, preview);
        preview.refused = reasons(&reconciled);
        preview.blocked = reconciled.blocked.clone();
        if reconciled.done.is_empty() {
            break;
        }
        let waits = reconciled.done.iter().any(|done| done.hop.waits());
        preview.hops.extend(reconciled.done.iter().map(|done| done.hop.clone()));
        group(asked, world, preview);
        let is_copied = report_copies(world, asked, &reconciled, preview);
        for done in &reconciled.done {
            if preview.problems.is_empty() {
                finish::follow_up(asked, world, done, preview);
            }
        }
        let failed = !preview.problems.is_empty();
        let arrived = to.is_some_and(|to| is_at(world, &asked.namespace, name, to));
        let is_over = failed || arrived || is_copied || (waits && to.is_none());
        if is_over || !world.needs.is_empty() {
            break;
        }
    }
    if let Some(to) = to
        && world.needs.is_empty()
        && preview.problems.is_empty()
        && !is_at(world, &asked.namespace, name, to)
    {
        let package = &subscription.spec.name;
        preview.problems.push(format!("no upgrades lead to version {to} of {package}"));
    }
}

/// What a user writes: the objects that are new and that no InstallPlan brings.
fn manifests(world: &World<'_>, preview: &Preview) -> Vec<Value> {
    let subscription = olm_key(Subscription::KIND, &preview.namespace, &preview.subscription);
    let mut found = Vec::new();
    for kind in ["Namespace", OperatorGroup::KIND, Subscription::KIND] {
        let new = world.changes().filter(|(key, before, _)| key.kind == kind && before.is_none());
        let own = new.filter(|(key, _, _)| kind != Subscription::KIND || **key == subscription);
        for (_, _, object) in own {
            let Some(mut object) = object.cloned() else { continue };
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
            if let Some(metadata) = object["metadata"].as_object_mut() {
                for field in ["uid", "resourceVersion", "generation"] {
                    metadata.remove(field);
                }
            }
            found.push(object);
        }
    }
    found
}

/// Whether a Subscription has a version installed.
fn is_at(world: &World<'_>, namespace: &str, name: &str, to: &str) -> bool {
    let Ok(found) = subscription(world, namespace, name) else { return false };
    let Some(csv) = found.status.and_then(|status| status.installed_csv) else { return false };
    let key = olm_key(ClusterServiceVersion::KIND, namespace, &csv);
    let object = world.get(&key);
    let version = object.and_then(|csv| csv.pointer("/spec/version")?.as_str().map(str::to_owned));
    csv == to || version.as_deref() == Some(to)
}

fn reasons(reconciled: &Reconciled) -> BTreeMap<String, String> {
    let named = |refusal: &Refusal| match refusal.subscriptions.as_slice() {
        [] => refusal.csvs.join(", "),
        names => names.join(", "),
    };
    reconciled.refusals.iter().map(|refusal| (named(refusal), refusal.error.summary())).collect()
}

/// The CSVs of a namespace that are not copies.
pub(super) fn own_csvs(world: &World<'_>, namespace: &str) -> Vec<ClusterServiceVersion> {
    let mut found: Vec<ClusterServiceVersion> =
        world.typed(ClusterServiceVersion::KIND, Some(namespace));
    found.retain(|csv| {
        let labels = csv.metadata.labels.as_ref();
        !labels.is_some_and(|labels| labels.contains_key(COPIED_FROM))
    });
    found
}

/// Says which CSVs cannot be created because copies have their names, as far as no execution has said so already;
/// whether there are any. One that other bundles need is there already: OLM goes on without it.
fn report_copies(
    world: &World<'_>,
    asked: &PreviewRequest,
    reconciled: &Reconciled,
    preview: &mut Preview,
) -> bool {
    let bundles = reconciled.done.iter().flat_map(|done| &done.hop.bundles);
    let copies =
        bundles.filter_map(|bundle| Some((bundle, in_the_way(world, asked, &bundle.csv)?)));
    let copies: Vec<(&Bundle, String)> = copies.collect();
    for (_, problem) in copies.iter().filter(|(bundle, _)| !bundle.is_dependency) {
        if !preview.problems.contains(problem) {
            preview.problems.push(problem.clone());
        }
    }
    !copies.is_empty()
}

/// Why a CSV cannot be created, in the words of the InstallPlan.
fn in_the_way(world: &World<'_>, asked: &PreviewRequest, csv: &str) -> Option<String> {
    let key = olm_key(ClusterServiceVersion::KIND, &asked.namespace, csv);
    copy_in_the_way(world.get(&key)?).map(|error| error.to_string())
}
