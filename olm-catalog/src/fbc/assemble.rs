//! First stage of validation: do the blobs refer to each other as they should?
//!
//! `opm` stops at the first answer; here all are collected. The result is a draft: what a
//! reported problem concerns may be missing from it, and channel heads are not known yet.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::blob::{
    Blob, BundleBlob, ChannelBlob, ChannelEntry, DeprecationsBlob, Located, Meta, Origin,
    PackageBlob,
};
use super::model::{Bundle, Catalog, Channel, Contents, Package};
use super::names::{KEY_COMPONENT, is_key_component, label_problems, listed};
use super::problem::{Problem, Problems};
use super::{bundle, deprecations, weight};

/// Joins blobs to packages. Blobs come in any order, so references are followed at the end.
pub(super) struct Assembler<'a> {
    contents: &'a mut dyn Contents,
    catalog: Catalog,
    channels: Vec<Located<ChannelBlob>>,
    bundles: Vec<Member>,
    deprecations: Vec<Located<DeprecationsBlob>>,
    problems: Problems,
    /// Bytes of what is remembered.
    weight: usize,
}

/// What is remembered of a bundle's blob.
struct Member {
    package: String,
    name: String,
    origin: Origin,
    /// None when its properties cannot be read.
    bundle: Option<Bundle>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(contents: &'a mut dyn Contents) -> Self {
        Self {
            contents,
            catalog: Catalog::default(),
            channels: Vec::new(),
            bundles: Vec::new(),
            deprecations: Vec::new(),
            problems: Problems::default(),
            weight: 0,
        }
    }

    /// What is remembered so far takes about so many bytes of memory.
    pub(super) fn weight(&self) -> usize {
        self.weight.saturating_add(self.problems.bytes())
    }

    /// Adds a blob; its content goes on at once.
    pub(super) fn add(&mut self, blob: Located<Blob>) -> io::Result<()> {
        let Located { origin, item } = blob;
        self.weight = self.weight.saturating_add(weight::of_blob(&item));
        match item {
            Blob::Package(item) => return self.package(Located { origin, item }),
            Blob::Channel(item) => self.channels.push(Located { origin, item }),
            Blob::Bundle(item) => return self.bundle(Located { origin, item }),
            Blob::Deprecations(item) => self.deprecations.push(Located { origin, item }),
            Blob::Other(item) => return self.meta(Located { origin, item }),
        }
        Ok(())
    }

    /// The draft, and everything that is wrong so far.
    pub(super) fn finish(self) -> (Catalog, Problems) {
        let Self { mut catalog, mut problems, .. } = self;
        for blob in self.channels {
            add_channel(&mut catalog, blob, &mut problems);
        }
        let mut known = BTreeSet::new();
        for member in self.bundles {
            known.insert((member.package.clone(), member.name.clone()));
            add_bundle(&mut catalog, member, &mut problems);
        }
        for package in catalog.packages.values() {
            check_references(package, &known, &mut problems);
        }
        deprecations::apply(self.deprecations, &mut catalog, &mut problems);
        (catalog, problems)
    }

    fn package(&mut self, blob: Located<PackageBlob>) -> io::Result<()> {
        let Located { origin, item } = blob;
        if add_package(&mut self.catalog, &item, &origin, &mut self.problems) {
            self.contents.package(item)?;
        }
        Ok(())
    }

    fn bundle(&mut self, blob: Located<BundleBlob>) -> io::Result<()> {
        let (package, name) = (blob.item.package.clone(), blob.item.name.clone());
        let origin = blob.origin.clone();
        let mut bundle = None;
        if !package.is_empty()
            && let Some((read, content)) = bundle::read(blob, &mut self.problems)
        {
            self.weight = self.weight.saturating_add(weight::of_content(&content));
            self.contents.bundle(&package, &read, content)?;
            bundle = Some(read);
        }
        self.bundles.push(Member { package, name, origin, bundle });
        Ok(())
    }

    /// Opaque blobs are kept under schema and package, so those must be able to name a folder.
    fn meta(&mut self, blob: Located<Meta>) -> io::Result<()> {
        let Located { origin, item } = blob;
        for (field, text) in [("schema", &item.schema), ("packageName", &item.package)] {
            if !is_key_component(text) && (field == "schema" || !text.is_empty()) {
                let message = format!(
                    "invalid custom schema meta: invalid {field} {text:?}: must match \
                     {KEY_COMPONENT}"
                );
                self.problems.push(Problem::of_catalog(message).at(&origin));
            }
        }
        self.contents.meta(item)
    }
}

/// Adds a package; false when there is no such package afterwards, or was one before.
fn add_package(
    catalog: &mut Catalog,
    item: &PackageBlob,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let mut report = |message: String| {
        problems.push(Problem::of_package(&item.name, message).at(origin));
    };
    if item.name.is_empty() {
        let problem = Problem::of_catalog("config contains package with no name");
        problems.push(problem.at(origin));
        return false;
    }
    let reasons = label_problems(&item.name);
    if !reasons.is_empty() {
        report(format!("invalid package name {:?}: [{}]", item.name, reasons.join(" ")));
    }
    if catalog.packages.contains_key(&item.name) {
        report(format!("duplicate package {:?}", item.name));
        return false;
    }
    let package = Package {
        name: item.name.clone(),
        default_channel: item.default_channel.clone(),
        channels: BTreeMap::new(),
        bundles: BTreeMap::new(),
        deprecation: None,
        origin: origin.clone(),
    };
    catalog.packages.insert(item.name.clone(), package);
    true
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

fn add_bundle(catalog: &mut Catalog, member: Member, problems: &mut Problems) {
    let Member { package: owner, name, origin, bundle } = member;
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
    if let Some(bundle) = bundle {
        package.bundles.insert(name, bundle);
    }
}

/// Every entry needs a blob. (`opm` looks at one channel here and finds the rest later.)
fn check_references(
    package: &Package,
    known: &BTreeSet<(String, String)>,
    problems: &mut Problems,
) {
    for channel in package.channels.values() {
        let unknown: Vec<&str> = channel
            .entries
            .keys()
            .filter(|name| !known.contains(&(package.name.clone(), (*name).clone())))
            .map(String::as_str)
            .collect();
        if !unknown.is_empty() {
            let message = format!(
                "no olm.bundle blobs found in package {:?} for olm.channel entries [{}]",
                package.name,
                listed(&unknown, " ")
            );
            let problem = Problem::of_channel(&package.name, &channel.name, message);
            problems.push(problem.at(&channel.origin));
        }
    }
}
