//! The catalog while it is filled.

use std::collections::{BTreeMap, BTreeSet};

use olm_types::gvk::Gvk;
use serde_json::json;

use super::bundles::Bundle;
use super::channels::{Chain, ENTRIES, Entry, chain};
use super::go;
use super::lists::{LegacyChannel, LegacyPackage};

/// Type of a property: package and version.
const PACKAGE: &str = "olm.package";

/// A catalog from a ConfigMap.
#[derive(Debug, Default)]
pub struct LegacyCatalog {
    pub(super) bundles: BTreeMap<String, Bundle>,
    pub(super) packages: BTreeMap<String, Package>,
    /// Plurals of APIs; the first one counts.
    pub(super) plurals: BTreeMap<Gvk, String>,
    /// Every bundle in every channel.
    pub(super) listing: Vec<Listed>,
    /// How many rows all channels have.
    entries: usize,
}

/// A package.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) default_channel: String,
    /// How many packages are before it in the list.
    place: usize,
    /// In the order of their names.
    pub(super) channels: BTreeMap<String, Channel>,
}

/// A channel of a package.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) head: String,
    pub(super) entries: Vec<Entry>,
}

/// A bundle in a channel, as a listing has it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed {
    pub(super) bundle: String,
    pub(super) package: String,
    pub(super) channel: String,
    pub(super) replaces: String,
    pub(super) skips: Vec<String>,
}

impl LegacyCatalog {
    /// Adds a bundle.
    ///
    /// # Errors
    /// There is one of its name.
    pub(super) fn add_bundle(&mut self, bundle: Bundle) -> Result<(), String> {
        if self.bundles.contains_key(&bundle.name) {
            return Err("there is another ClusterServiceVersion of this name before it".to_owned());
        }
        for api in bundle.provided.iter().chain(&bundle.required) {
            self.plurals.entry(api.gvk.clone()).or_insert_with(|| api.plural.clone());
        }
        self.bundles.insert(bundle.name.clone(), bundle);
        Ok(())
    }

    /// Adds a package, in the place of one of the same name.
    ///
    /// # Errors
    /// Everything that is wrong with it; then nothing is changed.
    pub(super) fn add_package(&mut self, package: &LegacyPackage) -> Result<(), Vec<String>> {
        let name = &package.package_name;
        let listed = package.channels.as_deref().unwrap_or_default();
        let is_default =
            |channel: &&LegacyChannel| channel.name == package.default_channel || listed.len() == 1;
        let (mut channels, mut errors, mut linked) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let default = listed.iter().find(is_default);
        if default.is_none() {
            errors.push(format!("no default channel specified for {name}"));
        }
        let before = self.packages.get(name).map_or(0, Package::entries);
        let others = self.entries.saturating_sub(before);
        let mut left = ENTRIES.saturating_sub(others);
        for channel in listed {
            if channels.contains_key(&channel.name) {
                errors.push(format!("there is another channel {:?} before it", channel.name));
                continue;
            }
            match chain(&self.bundles, &channel.current_csv, left) {
                Ok(Chain { entries, linked: more }) => {
                    left = left.saturating_sub(entries.len());
                    linked.extend(more);
                    let head = channel.current_csv.clone();
                    channels.insert(channel.name.clone(), Channel { head, entries });
                }
                Err(error) => errors.push(format!("channel {:?}: {error}", channel.name)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let default_channel = default.map(|channel| channel.name.clone()).unwrap_or_default();
        let place = self.packages.get(name).map_or(self.packages.len(), |known| known.place);
        let package = Package { default_channel, place, channels };
        self.entries = others.saturating_add(package.entries());
        self.packages.insert(name.clone(), package);
        self.add_package_properties(name, &linked);
        Ok(())
    }

    /// The bundles keep what they got from a package that another one replaces.
    fn add_package_properties(&mut self, package: &str, names: &BTreeSet<String>) {
        for name in names {
            if let Some(bundle) = self.bundles.get_mut(name) {
                let value = json!({"packageName": package, "version": bundle.version});
                bundle.properties.insert((PACKAGE.to_owned(), go::text(&value)));
            }
        }
    }

    /// Names of CSVs that no channel leads to.
    pub fn unused(&self) -> Vec<&str> {
        let used: BTreeSet<&str> =
            self.listing.iter().map(|listed| listed.bundle.as_str()).collect();
        let names = self.bundles.keys().map(String::as_str);
        names.filter(|name| !used.contains(name)).collect()
    }

    /// Makes the listing. A channel may lead to a bundle of another package, which it replaces. In channels of
    /// one name a bundle is listed once: a resolution takes two of them for two operators. The server that v0's
    /// manifests name lists it in the first package; here the one whose head it is goes first.
    pub(super) fn finish(&mut self) {
        let mut listing = Vec::new();
        for (package, row) in &self.packages {
            let place = row.place;
            for (channel, row) in &row.channels {
                let listed = row.listed(package, channel, &self.bundles).into_iter();
                listing.extend(listed.map(|one| (one.bundle != row.head, place, one)));
            }
        }
        listing.sort_by(|(late, place, one), (other_late, other_place, other)| {
            let (named, other) = ((&one.bundle, &one.channel), (&other.bundle, &other.channel));
            (named, late, place).cmp(&(other, other_late, other_place))
        });
        listing.dedup_by(|(.., one), (.., before)| {
            (&one.bundle, &one.channel) == (&before.bundle, &before.channel)
        });
        self.listing = listing.into_iter().map(|(.., listed)| listed).collect();
        self.listing.sort();
    }
}

impl Package {
    /// How many rows its channels have.
    fn entries(&self) -> usize {
        self.channels.values().map(|channel| channel.entries.len()).sum()
    }
}

impl Channel {
    /// Which bundle the row at a place replaces.
    pub(super) fn replaced(&self, entry: &Entry) -> Option<&str> {
        Some(self.entries.get(entry.replaces?)?.bundle.as_str())
    }

    /// Its bundles that are there, each once. What the rows between the head and the oldest bundle
    /// replace is replaced; what others replace is skipped.
    fn listed(
        &self,
        package: &str,
        channel: &str,
        bundles: &BTreeMap<String, Bundle>,
    ) -> Vec<Listed> {
        let mut all: BTreeMap<&str, (String, Vec<String>)> = BTreeMap::new();
        let main = self.main();
        for (place, entry) in self.entries.iter().enumerate() {
            let (replaces, skips) = all.entry(&entry.bundle).or_default();
            let Some(older) = self.replaced(entry) else { continue };
            if main.contains(&place) {
                *replaces = older.to_owned().max(std::mem::take(replaces));
            } else {
                skips.push(older.to_owned());
            }
        }
        all.retain(|name, _| bundles.contains_key(*name));
        let listed = all.into_iter().map(|(bundle, (replaces, skips))| Listed {
            bundle: bundle.to_owned(),
            package: package.to_owned(),
            channel: channel.to_owned(),
            replaces,
            skips,
        });
        listed.collect()
    }

    /// Places of the rows between the head and the oldest bundle.
    fn main(&self) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        let mut next = Some(0);
        while let Some(place) = next.filter(|place| places.insert(*place)) {
            next = self.entries.get(place).and_then(|entry| entry.replaces);
        }
        places
    }
}
