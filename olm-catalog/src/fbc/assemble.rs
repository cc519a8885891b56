//! First stage of validation: do the blobs refer to each other as they should?
//!
//! `opm` stops at the first answer; here all are collected. The result is a draft: what a
//! reported problem concerns may be missing from it, and channel heads are not known yet.

use std::collections::{BTreeMap, BTreeSet};

use super::blob::{
    Blob, BundleBlob, ChannelBlob, ChannelEntry, DeprecationsBlob, Located, Meta, PackageBlob,
};
use super::model::{Catalog, Channel, Package};
use super::names::{is_key_component, label_problems};
use super::problem::{Problem, Problems};
use super::{bundle, deprecations};

/// Blobs by schema.
#[derive(Default)]
struct Sorted {
    packages: Vec<Located<PackageBlob>>,
    channels: Vec<Located<ChannelBlob>>,
    bundles: Vec<Located<BundleBlob>>,
    deprecations: Vec<Located<DeprecationsBlob>>,
}

/// Joins blobs to packages.
pub(super) fn assemble(blobs: Vec<Located<Blob>>, problems: &mut Problems) -> Catalog {
    let mut catalog = Catalog::default();
    let mut sorted = Sorted::default();
    for Located { origin, item } in blobs {
        match item {
            Blob::Package(item) => sorted.packages.push(Located { origin, item }),
            Blob::Channel(item) => sorted.channels.push(Located { origin, item }),
            Blob::Bundle(item) => sorted.bundles.push(Located { origin, item }),
            Blob::Deprecations(item) => sorted.deprecations.push(Located { origin, item }),
            Blob::Other(item) => {
                add_meta(&mut catalog, Located { origin, item }, problems);
            }
        }
    }
    for blob in sorted.packages {
        add_package(&mut catalog, blob, problems);
    }
    for blob in sorted.channels {
        add_channel(&mut catalog, blob, problems);
    }
    let blobs: BTreeSet<(String, String)> = sorted
        .bundles
        .iter()
        .map(|blob| (blob.item.package.clone(), blob.item.name.clone()))
        .collect();
    for blob in sorted.bundles {
        add_bundle(&mut catalog, blob, problems);
    }
    for package in catalog.packages.values() {
        check_references(package, &blobs, problems);
    }
    deprecations::apply(sorted.deprecations, &mut catalog, problems);
    catalog
}

/// Opaque blobs are stored under schema and package, so those must be able to name a folder.
fn add_meta(catalog: &mut Catalog, blob: Located<Meta>, problems: &mut Problems) {
    let Located { origin, item } = blob;
    for (field, text) in [("schema", &item.schema), ("package", &item.package)] {
        if !is_key_component(text) && (field == "schema" || !text.is_empty()) {
            let message = format!(
                "invalid {field} {text:?}: it must begin with a letter or digit and hold only \
                 letters, digits, '.', '_' and '-'"
            );
            problems.push(Problem::of_catalog(message).at(&origin));
        }
    }
    catalog.metas.push(item);
}

fn add_package(catalog: &mut Catalog, blob: Located<PackageBlob>, problems: &mut Problems) {
    let Located { origin, item } = blob;
    let mut report = |message: String| {
        problems.push(Problem::of_package(&item.name, message).at(&origin));
    };
    if item.name.is_empty() {
        let problem = Problem::of_catalog("config contains package with no name");
        problems.push(problem.at(&origin));
        return;
    }
    let reasons = label_problems(&item.name);
    if !reasons.is_empty() {
        report(format!("invalid package name {:?}: [{}]", item.name, reasons.join(" ")));
    }
    if catalog.packages.contains_key(&item.name) {
        report(format!("duplicate package {:?}", item.name));
        return;
    }
    let package = Package {
        name: item.name.clone(),
        default_channel: item.default_channel,
        description: item.description,
        icon: item.icon,
        channels: BTreeMap::new(),
        bundles: BTreeMap::new(),
        deprecation: None,
        origin,
    };
    catalog.packages.insert(item.name, package);
}

fn add_channel(catalog: &mut Catalog, blob: Located<ChannelBlob>, problems: &mut Problems) {
    let Located { origin, item } = blob;
    let (owner, name) = (item.package.clone(), item.name.clone());
    let mut report = |problem: Problem| problems.push(problem.at(&origin));
    let Some(package) = catalog.packages.get_mut(&owner) else {
        let message = format!("unknown package {owner:?} for channel {name:?}");
        report(Problem::of_package(&owner, message));
        return;
    };
    if name.is_empty() {
        let message = format!("package {owner:?} contains channel with no name");
        report(Problem::of_package(&owner, message));
        return;
    }
    if package.channels.contains_key(&name) {
        let message = format!("package {owner:?} has duplicate channel {name:?}");
        report(Problem::of_package(&owner, message));
        return;
    }
    let (entries, duplicates) = by_name(item.entries);
    for entry in duplicates {
        let message =
            format!("invalid package {owner:?}, channel {name:?}: duplicate entry {entry:?}");
        report(Problem::of_channel(&owner, &name, message));
    }
    let channel =
        Channel { name: name.clone(), entries, head: String::new(), deprecation: None, origin };
    package.channels.insert(name, channel);
}

/// Entries by name, and the names that came twice.
fn by_name(entries: Vec<ChannelEntry>) -> (BTreeMap<String, ChannelEntry>, BTreeSet<String>) {
    let mut by_name = BTreeMap::new();
    let mut duplicates = BTreeSet::new();
    for entry in entries {
        if by_name.contains_key(&entry.name) {
            duplicates.insert(entry.name);
        } else {
            by_name.insert(entry.name.clone(), entry);
        }
    }
    (by_name, duplicates)
}

fn add_bundle(catalog: &mut Catalog, blob: Located<BundleBlob>, problems: &mut Problems) {
    let (owner, name) = (blob.item.package.clone(), blob.item.name.clone());
    let origin = blob.origin.clone();
    let mut report = |problem: Problem| problems.push(problem.at(&origin));
    if owner.is_empty() {
        let message = format!("package name must be set for bundle {name:?}");
        report(Problem::of_catalog(message));
        return;
    }
    let Some(package) = catalog.packages.get_mut(&owner) else {
        let message = format!("unknown package {owner:?} for bundle {name:?}");
        report(Problem::of_package(&owner, message));
        return;
    };
    if package.bundles.contains_key(&name) {
        let message = format!("package {owner:?} has duplicate bundle {name:?}");
        report(Problem::of_package(&owner, message));
        return;
    }
    if !package.channels.values().any(|channel| channel.entries.contains_key(&name)) {
        let message =
            format!("package {owner:?}, bundle {name:?} not found in any channel entries");
        report(Problem::of_bundle(&owner, &name, message));
    }
    if let Some(bundle) = bundle::read(blob, problems) {
        package.bundles.insert(name, bundle);
    }
}

/// Every entry needs a blob. (`opm` looks at one channel here and finds the rest later.)
fn check_references(
    package: &Package,
    blobs: &BTreeSet<(String, String)>,
    problems: &mut Problems,
) {
    for channel in package.channels.values() {
        let unknown: Vec<&str> = channel
            .entries
            .keys()
            .filter(|name| !blobs.contains(&(package.name.clone(), (*name).clone())))
            .map(String::as_str)
            .collect();
        if !unknown.is_empty() {
            let message = format!(
                "no olm.bundle blobs found in package {:?} for olm.channel entries [{}]",
                package.name,
                unknown.join(" ")
            );
            let problem = Problem::of_channel(&package.name, &channel.name, message);
            problems.push(problem.at(&channel.origin));
        }
    }
}
