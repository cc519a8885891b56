//! Catalogs in memory, for tests and tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Universe};
use olm_types::gvk::Gvk;
use olm_types::properties::value;

/// A universe of entries that were put into it. Their order means nothing.
#[derive(Clone, Debug, Default)]
pub struct MemoryUniverse {
    catalogs: BTreeMap<CatalogKey, CatalogView>,
    by_package: BTreeMap<Arc<str>, Vec<Arc<Entry>>>,
    by_gvk: BTreeMap<Gvk, Vec<Arc<Entry>>>,
    by_label: BTreeMap<String, Vec<Arc<Entry>>>,
    by_channel: BTreeMap<Channel, Vec<Arc<Entry>>>,
    by_name: BTreeMap<Channel, Vec<Arc<Entry>>>,
}

/// Catalog, package and channel; or catalog, channel and bundle.
type Channel = (CatalogKey, Arc<str>, Arc<str>);

impl MemoryUniverse {
    /// Adds a catalog, or changes its priority or availability.
    pub fn add_catalog(&mut self, view: CatalogView) {
        self.catalogs.insert(view.key.clone(), view);
    }

    /// Adds an entry; its catalog is added with priority 0 if it is new.
    pub fn add(&mut self, entry: Entry) {
        let entry = Arc::new(entry);
        let key = entry.catalog.clone();
        self.catalogs.entry(key.clone()).or_insert_with(|| CatalogView {
            key: key.clone(),
            priority: 0,
            unavailable: None,
        });
        for gvk in entry.properties.iter().filter_map(value::gvk) {
            insert(self.by_gvk.entry(gvk).or_default(), &entry);
        }
        for label in entry.properties.iter().filter_map(value::label) {
            insert(self.by_label.entry(label).or_default(), &entry);
        }
        let name = (key.clone(), entry.channel.clone(), entry.name.clone());
        insert(self.by_name.entry(name).or_default(), &entry);
        let channel = (key, entry.package.clone(), entry.channel.clone());
        insert(self.by_channel.entry(channel).or_default(), &entry);
        insert(self.by_package.entry(entry.package.clone()).or_default(), &entry);
    }
}

impl FromIterator<Entry> for MemoryUniverse {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut universe = Self::default();
        entries.into_iter().for_each(|entry| universe.add(entry));
        universe
    }
}

/// Keeps the list sorted by catalog, channel and name; an entry that is there twice counts once.
fn insert(list: &mut Vec<Arc<Entry>>, entry: &Arc<Entry>) {
    let position = list.partition_point(|known| place(known) <= place(entry));
    let before = position.checked_sub(1).and_then(|before| list.get(before));
    if before.is_none_or(|known| !Arc::ptr_eq(known, entry)) {
        list.insert(position, entry.clone());
    }
}

fn place(entry: &Entry) -> (&str, &CatalogKey, &str, &str) {
    (&entry.package, &entry.catalog, &entry.channel, &entry.name)
}

impl Universe for MemoryUniverse {
    fn catalogs(&self) -> Vec<CatalogView> {
        self.catalogs.values().cloned().collect()
    }

    fn by_package(&self, package: &str) -> Vec<Arc<Entry>> {
        self.by_package.get(package).cloned().unwrap_or_default()
    }

    fn by_gvk(&self, gvk: &Gvk) -> Vec<Arc<Entry>> {
        self.by_gvk.get(gvk).cloned().unwrap_or_default()
    }

    fn by_label(&self, label: &str) -> Vec<Arc<Entry>> {
        self.by_label.get(label).cloned().unwrap_or_default()
    }

    fn channel(&self, catalog: &CatalogKey, package: &str, channel: &str) -> Vec<Arc<Entry>> {
        let key = (catalog.clone(), package.into(), channel.into());
        self.by_channel.get(&key).cloned().unwrap_or_default()
    }

    fn all(&self) -> Vec<Arc<Entry>> {
        self.by_package.values().flatten().cloned().collect()
    }

    fn named(&self, catalog: &CatalogKey, channel: &str, name: &str) -> Vec<Arc<Entry>> {
        let key = (catalog.clone(), channel.into(), name.into());
        self.by_name.get(&key).cloned().unwrap_or_default()
    }

    fn has_entries(&self, catalog: &CatalogKey) -> bool {
        let first = (catalog.clone(), "".into(), "".into());
        self.by_channel.range(first..).next().is_some_and(|((key, ..), _)| key == catalog)
    }
}
