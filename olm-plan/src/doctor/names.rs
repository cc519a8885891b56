//! Subscriptions that name a catalog, a package or a channel that does not exist.

use std::collections::BTreeSet;

use olm_types::api::Subscription;
use serde_json::json;

use super::nearest::nearest;
use super::subscriptions::{each, resolution};
use super::{Fix, Found, View, catalogs, fix};
use crate::observed::{VisiblePackage, name, namespace};

/// The catalog that is named does not exist.
pub(super) fn no_source(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let spec = &one.spec;
        let evidence =
            format!("there is no CatalogSource {}/{}", spec.source_namespace, spec.source);
        view.source_of(one).is_none().then(|| (evidence, other_catalog(view, one)))
    })
}

/// The catalog has no such package.
pub(super) fn no_package(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        lacks_package(view, one).then(|| {
            let spec = &one.spec;
            let evidence = format!(
                "CatalogSource {}/{} has no package {}",
                spec.source_namespace, spec.source, spec.name
            );
            (evidence, other_package(view, one))
        })
    })
}

/// The package has no such channel.
pub(super) fn no_channel(view: &View<'_>) -> Vec<Found> {
    each(view, |one| {
        let package = view.package_of(one).filter(|_| lacks_channel(view, one))?;
        let channels: Vec<&str> =
            package.channels.iter().map(|channel| channel.name.as_str()).collect();
        let wanted = one.spec.channel.as_deref().unwrap_or_default();
        let evidence = format!("channel {wanted} is none of {}", channels.join(", "));
        let better = nearest(wanted, channels.into_iter()).unwrap_or(&package.default_channel);
        Some((evidence, change(one, &json!({"channel": better}))))
    })
}

/// Whether a catalog that is at work has no package of the name that a Subscription gives.
pub(super) fn lacks_package(view: &View<'_>, one: &Subscription) -> bool {
    resolution(one).is_some()
        && view.source_of(one).is_some_and(catalogs::is_ready)
        && view.package_of(one).is_none()
}

/// Whether a package is there, without the channel that a Subscription names.
pub(super) fn lacks_channel(view: &View<'_>, one: &Subscription) -> bool {
    resolution(one).is_some() && view.package_of(one).is_some() && view.channel_of(one).is_none()
}

/// A change of what a Subscription asks for.
pub(super) fn change(one: &Subscription, spec: &serde_json::Value) -> Fix {
    let patch = json!({ "spec": spec });
    fix::patch(namespace(&one.metadata), "subscription", name(&one.metadata), &patch)
}

/// The catalog with the package; of several the one with the most similar name.
fn other_catalog(view: &View<'_>, one: &Subscription) -> Fix {
    let spec = &one.spec;
    let with_package =
        || visible_packages(view, one).filter(|package| package.package == spec.name);
    let names: BTreeSet<&str> = with_package().map(|package| package.catalog.as_str()).collect();
    let better = nearest(&spec.source, names.iter().copied()).or(names.first().copied());
    let package = with_package().find(|package| Some(package.catalog.as_str()) == better);
    match package {
        Some(package) => change(one, &source(package)),
        None => Fix::AskTheAuthor(format!(
            "no catalog that the namespace sees has the package {}: ask whoever wrote the Subscription \
             for the CatalogSource",
            spec.name
        )),
    }
}

/// The package in another catalog, or one with a similar name in this.
fn other_package(view: &View<'_>, one: &Subscription) -> Fix {
    let spec = &one.spec;
    let elsewhere = visible_packages(view, one).find(|package| package.package == spec.name);
    if let Some(package) = elsewhere {
        return change(one, &source(package));
    }
    let here = visible_packages(view, one).filter(|package| {
        package.catalog == spec.source && package.catalog_namespace == spec.source_namespace
    });
    match nearest(&spec.name, here.map(|package| package.package.as_str())) {
        Some(better) => change(one, &json!({"name": better})),
        None => Fix::AskTheAuthor(format!(
            "no catalog that the namespace sees has a package of such a name; {} lists what there is",
            fix::line(namespace(&one.metadata), &["get", "packagemanifests"])
        )),
    }
}

fn source(package: &VisiblePackage) -> serde_json::Value {
    json!({"source": package.catalog, "sourceNamespace": package.catalog_namespace})
}

/// The packages that the namespace of a Subscription sees, as far as they were asked for.
fn visible_packages<'a>(
    view: &View<'a>,
    one: &Subscription,
) -> impl Iterator<Item = &'a VisiblePackage> {
    view.observed.visible_packages.get(namespace(&one.metadata)).into_iter().flatten()
}
