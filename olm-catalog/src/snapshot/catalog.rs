//! The content of one catalog, with its indexes.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};
use olm_types::document::{Budget, json_as};
use olm_types::gvk::Gvk;
use serde::Deserialize;

/// All entries of a catalog, sorted by package and channel, in catalog order within a channel.
#[derive(Debug)]
pub struct CatalogSnapshot {
    key: CatalogKey,
    entries: Vec<Arc<Entry>>,
    packages: BTreeMap<Arc<str>, PackageSummary>,
    spans: BTreeMap<Arc<str>, PackageSpan>,
    by_gvk: BTreeMap<Gvk, Vec<usize>>,
    by_label: BTreeMap<Arc<str>, Vec<usize>>,
    by_name: BTreeMap<Arc<str>, Vec<usize>>,
    skipped: Vec<SkippedBundle>,
    skipped_count: usize,
    bytes: usize,
}

/// What a catalog says about a package as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageSummary {
    /// Channels by name.
    pub channels: BTreeMap<Arc<str>, ChannelSummary>,
    /// The channel of subscriptions that name none.
    pub default_channel: Arc<str>,
    /// Message, when the package is deprecated.
    pub deprecation: Option<Arc<str>>,
}

/// What a catalog says about a channel as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelSummary {
    /// Name of the bundle at the head.
    pub head: Arc<str>,
    /// Message, when the channel is deprecated.
    pub deprecation: Option<Arc<str>>,
}

/// A bundle that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedBundle {
    /// Its package.
    pub package: String,
    /// Its channel.
    pub channel: String,
    /// Its name.
    pub name: String,
    /// Text for people.
    pub reason: String,
}

/// Positions of a package and of its channels in `entries`.
#[derive(Debug, Default)]
struct PackageSpan {
    all: Range<usize>,
    channels: BTreeMap<Arc<str>, Range<usize>>,
}

/// Value of an `olm.label` property.
#[derive(Deserialize)]
struct Label {
    label: String,
}

impl CatalogSnapshot {
    pub(super) fn new(
        key: CatalogKey,
        mut entries: Vec<Arc<Entry>>,
        packages: BTreeMap<Arc<str>, PackageSummary>,
        skipped: Vec<SkippedBundle>,
        skipped_count: usize,
    ) -> Self {
        entries.sort_by(|a, b| (&a.package, &a.channel).cmp(&(&b.package, &b.channel)));
        Self {
            spans: spans(&entries),
            by_gvk: index_shared(&entries, |entry| entry.provided_apis().collect()),
            by_label: index_shared(&entries, labels),
            by_name: index_by(&entries, |entry| vec![Arc::clone(&entry.name)]),
            key,
            entries,
            packages,
            skipped,
            skipped_count,
            bytes: 0,
        }
    }

    /// The same, with what it takes in memory.
    pub(super) fn taking(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// What it takes in memory, in bytes, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether another snapshot of the catalog says the same.
    pub fn has_content_of(&self, other: &Self) -> bool {
        self.entries == other.entries
            && self.packages == other.packages
            && self.skipped == other.skipped
            && self.skipped_count == other.skipped_count
    }

    /// Which CatalogSource this is the content of.
    pub fn key(&self) -> &CatalogKey {
        &self.key
    }

    /// Every entry.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Packages by name.
    pub fn packages(&self) -> &BTreeMap<Arc<str>, PackageSummary> {
        &self.packages
    }

    /// Bundles that were left out, at most a hundred; see [`Self::skipped_count`].
    pub fn skipped(&self) -> &[SkippedBundle] {
        &self.skipped
    }

    /// How many bundles were left out.
    pub fn skipped_count(&self) -> usize {
        self.skipped_count
    }

    /// The entries of a package.
    pub fn package(&self, package: &str) -> &[Arc<Entry>] {
        self.spans.get(package).map_or(&[], |span| self.slice(&span.all))
    }

    /// The entries of a channel.
    pub fn channel(&self, package: &str, channel: &str) -> &[Arc<Entry>] {
        let span = self.spans.get(package).and_then(|package| package.channels.get(channel));
        span.map_or(&[], |range| self.slice(range))
    }

    /// The entries that provide an API.
    pub fn provides<'a>(&'a self, gvk: &Gvk) -> impl Iterator<Item = &'a Arc<Entry>> + use<'a> {
        self.at(self.by_gvk.get(gvk))
    }

    /// The entries with a label.
    pub fn labelled<'a>(&'a self, label: &str) -> impl Iterator<Item = &'a Arc<Entry>> + use<'a> {
        self.at(self.by_label.get(label))
    }

    /// The entries of a bundle, one per channel.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Arc<Entry>> + use<'a> {
        self.at(self.by_name.get(name))
    }

    fn at<'a>(
        &'a self,
        positions: Option<&'a Vec<usize>>,
    ) -> impl Iterator<Item = &'a Arc<Entry>> + use<'a> {
        positions.into_iter().flatten().filter_map(|position| self.entries.get(*position))
    }

    fn slice(&self, range: &Range<usize>) -> &[Arc<Entry>] {
        self.entries.get(range.clone()).unwrap_or_default()
    }
}

fn spans(entries: &[Arc<Entry>]) -> BTreeMap<Arc<str>, PackageSpan> {
    let mut spans: BTreeMap<Arc<str>, PackageSpan> = BTreeMap::new();
    for (position, entry) in entries.iter().enumerate() {
        let whole = position..position + 1;
        let span = spans
            .entry(Arc::clone(&entry.package))
            .or_insert_with(|| PackageSpan { all: whole.clone(), channels: BTreeMap::new() });
        span.all.end = whole.end;
        span.channels.entry(Arc::clone(&entry.channel)).or_insert(whole.clone()).end = whole.end;
    }
    spans
}

/// Positions by key; an entry that names a key twice is listed once.
fn index_by<K: Ord>(
    entries: &[Arc<Entry>],
    mut keys: impl FnMut(&Entry) -> Vec<K>,
) -> BTreeMap<K, Vec<usize>> {
    let mut index: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (position, entry) in entries.iter().enumerate() {
        for key in keys(entry) {
            let positions = index.entry(key).or_default();
            if positions.last() != Some(&position) {
                positions.push(position);
            }
        }
    }
    index
}

/// Positions by a key that follows from properties. Those of a list that entries share are read once.
fn index_shared<K: Ord + Clone>(
    entries: &[Arc<Entry>],
    keys: impl Fn(&Entry) -> Vec<K>,
) -> BTreeMap<K, Vec<usize>> {
    let mut known: HashMap<usize, Vec<K>> = HashMap::new();
    index_by(entries, |entry| {
        let list = Arc::as_ptr(&entry.properties).addr();
        known.entry(list).or_insert_with(|| keys(entry)).clone()
    })
}

fn labels(entry: &Entry) -> Vec<Arc<str>> {
    let labels = entry.properties.iter().filter(|property| &*property.kind == "olm.label");
    labels
        .filter_map(|property| json_as::<Label>(&*property.value, &Budget::PROPERTY).ok())
        .map(|value| value.label.into())
        .collect()
}
