//! Subscriptions: what keeps them from being resolved, and what they are bound to.

use olm_types::annotations::{GENERATED_BY, PIN, VERSION_RANGE};
use olm_types::api::{
    ClusterServiceVersion, PackageManifestStatus, Subscription, SubscriptionState,
};
use olm_types::conditions::subscription as conditions;
use serde_json::json;

use super::names::{change, lacks_channel, lacks_package};
use super::{Fix, Found, View, catalogs, fix};
use crate::health::true_condition;
use crate::needs::needs;
use crate::observed::{name, namespace};

/// What the resolver says of a CSV that nothing refers to.
const ORPHAN: &str = "exists and is not referenced by a subscription";

/// CSVs that nothing refers to, and that a resolution names as what it fails on. One that makes way for
/// another CSV is part of an upgrade.
pub(super) fn orphan(view: &View<'_>) -> Vec<Found> {
    let orphans = view.csvs().filter(|csv| view.subscription_of(csv).is_none());
    let found = orphans.filter(|csv| !view.is_replaced(csv)).filter_map(|csv| {
        let (home, own) = (namespace(&csv.metadata), name(&csv.metadata));
        let blocked = view.subscriptions_in(home).iter().find(|one| blocks(own, one))?;
        let evidence = format!(
            "Subscription {} is not resolved: clusterserviceversion {own} {ORPHAN}",
            name(&blocked.metadata)
        );
        let fix = fix::kubectl(home, &["delete", "clusterserviceversion", own]);
        Some(Found::of(ClusterServiceVersion::KIND, &csv.metadata, evidence, fix))
    });
    found.collect()
}

/// A bundle image could not be unpacked, and no other Job is at it: a failure stays recorded until one has succeeded.
pub(super) fn unpack_failed(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let condition = true_condition(one, conditions::BUNDLE_UNPACK_FAILED)?;
        if true_condition(one, conditions::BUNDLE_UNPACKING).is_some() {
            return None;
        }
        let jobs = ["delete", "jobs", "-l", olm_types::labels::BUNDLE_UNPACK_REF];
        let failed = ["--field-selector", "status.successful=0"];
        let fix = fix::kubectl(&one.spec.source_namespace, &[&jobs[..], &failed].concat());
        Some((condition.message.clone().unwrap_or_default(), fix))
    })
}

/// Installed is not the channel head, nothing leads there, and nothing that a user wrote holds it back.
pub(super) fn behind_the_head(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let status = one.status.as_ref()?;
        let is_latest = status.state == SubscriptionState::AtLatestKnown;
        let is_held = true_condition(one, conditions::UPGRADE_HELD).is_some();
        // What a resolution fails on has a code of its own, such as a pin to which no upgrade leads.
        let is_at_rest = is_latest && !is_held && resolution(one).is_none();
        let installed = status.installed_csv.as_deref().filter(|_| is_at_rest)?;
        let channel = view.channel_of(one)?;
        let is_behind = channel.current_csv != installed;
        (is_behind && !is_held_with_another(view, one, installed)).then(|| {
            let (head, channel) = (&channel.current_csv, &channel.name);
            let evidence = format!("{installed} is installed, {head} is the head of {channel}");
            let ask = format!("ask the author for an upgrade edge from {installed} to {head}");
            (evidence, Fix::AskTheAuthor(ask))
        })
    })
}

/// Whether a Subscription of which the upgrades are held back needs what this one has installed, and so holds it, too.
fn is_held_with_another(view: &View<'_>, one: &Subscription, installed: &str) -> bool {
    let home = namespace(&one.metadata);
    let Some(csv) = view.csv(home, installed) else { return false };
    let all = view.subscriptions_in(home).iter();
    let mut held = all.filter(|other| true_condition(other, conditions::UPGRADE_HELD).is_some());
    held.any(|other| {
        let own = other.status.as_ref().and_then(|status| status.installed_csv.as_deref());
        let own = own.and_then(|own| view.csv(home, own));
        own.is_some_and(|own| needs(own, csv, &one.spec.name))
    })
}

/// Package, channel or bundle is deprecated.
pub(super) fn deprecated(view: &View<'_>) -> Vec<Found> {
    let types = [
        conditions::PACKAGE_DEPRECATED,
        conditions::CHANNEL_DEPRECATED,
        conditions::BUNDLE_DEPRECATED,
    ];
    each(view, |one| {
        let found = types.iter().filter_map(|type_| true_condition(one, type_));
        let messages: Vec<String> = found.filter_map(|one| one.message.clone()).collect();
        (!messages.is_empty()).then(|| (messages.join("; "), instead(view, one)))
    })
}

/// Subscriptions that OLM made for a dependency which no operator has any more.
pub(super) fn unneeded(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let annotations = one.metadata.annotations.as_ref()?;
        let plan = annotations.get(GENERATED_BY)?;
        let home = namespace(&one.metadata);
        let installed = one.status.as_ref()?.installed_csv.as_deref()?;
        let csv = view.csv(home, installed)?;
        let is_needed = view.csvs_in(home).any(|other| needs(other, csv, &one.spec.name));
        if is_needed || view.subscriptions_in(home).iter().any(|one| is_under_way(view, one)) {
            return None;
        }
        let evidence =
            format!("InstallPlan {plan} made it for a dependency, and no CSV requires {installed}");
        Some((evidence, fix::olm(home, &["uninstall", name(&one.metadata), "--yes"])))
    })
}

/// Nothing fits, for a reason without a code of its own.
pub(super) fn unresolved(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let message = resolution(one)?;
        let home = namespace(&one.metadata);
        let is_explained = lacks_package(view, one)
            || lacks_channel(view, one)
            || view.groups_in(home).len() != 1
            || view.source_of(one).is_none_or(|source| !catalogs::is_ready(source))
            || names_orphan(view, one);
        let ask = "ask the author of the operator that the message names, or leave one of them out";
        let fix =
            || declare_anew(one, &message).unwrap_or_else(|| Fix::AskTheAuthor(ask.to_owned()));
        let fix = (!is_explained).then(fix)?;
        Some((message, fix))
    })
}

/// What to change where the pin or the range of the Subscription itself cannot be met.
fn declare_anew(one: &Subscription, message: &str) -> Option<Fix> {
    let annotations = one.metadata.annotations.as_ref()?;
    let own = name(&one.metadata);
    let is_about = |words: &str| message.contains(&format!("Subscription {own}, which {words} "));
    let declared = [
        (PIN, "is pinned to", "name a CSV to which upgrades lead in spec.startingCSV"),
        (VERSION_RANGE, "has version-range", "change the range"),
    ];
    let refused =
        |(key, words, _): &(&str, &str, &str)| annotations.contains_key(*key) && is_about(words);
    let (key, _, change) = declared.into_iter().find(refused)?;
    let key_gone = format!("{key}-");
    let words = ["annotate", "subscription", own, &key_gone];
    let removal = fix::line(namespace(&one.metadata), &words);
    Some(Fix::Wait(format!(
        "annotation {key} lets in nothing that can be installed: {change}, or remove the annotation: {removal}"
    )))
}

/// The findings of a check that looks at one Subscription at a time.
pub(super) fn each(
    view: &View<'_>,
    check: impl Fn(&Subscription) -> Option<(String, Fix)>,
) -> Vec<Found> {
    let found = view.observed.subscriptions.iter().filter_map(|one| {
        let (evidence, fix) = check(one)?;
        Some(Found::of(Subscription::KIND, &one.metadata, evidence, fix))
    });
    found.collect()
}

/// The message of a failed resolution.
pub(super) fn resolution(one: &Subscription) -> Option<String> {
    let condition = true_condition(one, conditions::RESOLUTION_FAILED)?;
    Some(condition.message.clone().unwrap_or_default())
}

fn blocks(csv: &str, one: &Subscription) -> bool {
    let named = format!("clusterserviceversion {csv} {ORPHAN}");
    resolution(one).is_some_and(|message| message.contains(&named))
}

/// Whether a resolution fails on a CSV that nothing refers to, and that is there: an orphan, or one that an
/// unfinished upgrade has left.
fn names_orphan(view: &View<'_>, one: &Subscription) -> bool {
    let mut orphans =
        view.csvs_in(namespace(&one.metadata)).filter(|csv| view.subscription_of(csv).is_none());
    orphans.any(|csv| blocks(name(&csv.metadata), one))
}

/// Another channel, where there is one that is not deprecated.
fn instead(view: &View<'_>, one: &Subscription) -> Fix {
    let ask = || Fix::AskTheAuthor("ask the author what to use instead".to_owned());
    let Some(package) = view.package_of(one).filter(|package| package.deprecation.is_none()) else {
        return ask();
    };
    match true_condition(one, conditions::CHANNEL_DEPRECATED).and_then(|_| channel(package)) {
        Some(better) => change(one, &json!({"channel": better})),
        None => ask(),
    }
}

/// The default channel, or the first other one, that is not deprecated.
fn channel(package: &PackageManifestStatus) -> Option<&str> {
    let usable = || package.channels.iter().filter(|channel| channel.deprecation.is_none());
    let default = usable().find(|channel| channel.name == package.default_channel);
    default.or_else(|| usable().next()).map(|channel| channel.name.as_str())
}

/// Whether a Subscription is about to install something that may need others.
fn is_under_way(view: &View<'_>, one: &Subscription) -> bool {
    let status = one.status.as_ref();
    let current = status.and_then(|status| status.current_csv.as_deref());
    current.is_none_or(|csv| view.csv(namespace(&one.metadata), csv).is_none())
}
