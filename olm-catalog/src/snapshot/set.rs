//! Several catalogs as one universe.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Universe};
use olm_types::gvk::Gvk;

use super::CatalogSnapshot;

/// One catalog of a set.
#[derive(Clone, Debug)]
pub struct Member {
    /// Which CatalogSource it is.
    pub key: CatalogKey,
    /// `spec.priority`; higher is preferred.
    pub priority: i64,
    /// Its content, or why there is none.
    pub content: Result<Arc<CatalogSnapshot>, String>,
}

/// The catalogs that may be used in one namespace. Answers come catalog by catalog in the order
/// of their keys, within a catalog by package, channel and catalog order.
#[derive(Clone, Debug, Default)]
pub struct SnapshotSet {
    members: Vec<Member>,
}

impl SnapshotSet {
    /// A set of catalogs; a later member replaces an earlier one with the same key.
    pub fn new(members: impl IntoIterator<Item = Member>) -> Self {
        let by_key: BTreeMap<_, _> =
            members.into_iter().map(|member| (member.key.clone(), member)).collect();
        Self { members: by_key.into_values().collect() }
    }

    /// The catalogs, sorted by key.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The content of one catalog, if it can be used.
    pub fn snapshot(&self, key: &CatalogKey) -> Option<&Arc<CatalogSnapshot>> {
        let found = self.members.binary_search_by(|member| member.key.cmp(key)).ok()?;
        self.members.get(found)?.content.as_ref().ok()
    }

    /// Why catalogs cannot be used, by catalog.
    pub fn unusable(&self) -> BTreeMap<CatalogKey, String> {
        let reasons = self.members.iter().filter_map(|member| {
            Some((member.key.clone(), member.content.as_ref().err()?.clone()))
        });
        reasons.collect()
    }

    fn snapshots(&self) -> impl Iterator<Item = &Arc<CatalogSnapshot>> {
        self.members.iter().filter_map(|member| member.content.as_ref().ok())
    }
}

impl Universe for SnapshotSet {
    fn catalogs(&self) -> Vec<CatalogView> {
        let view = |member: &Member| CatalogView {
            key: member.key.clone(),
            priority: member.priority,
            unavailable: member.content.as_ref().err().cloned(),
        };
        self.members.iter().map(view).collect()
    }

    fn by_package(&self, package: &str) -> Vec<Arc<Entry>> {
        self.snapshots().flat_map(|catalog| catalog.package(package)).cloned().collect()
    }

    fn by_gvk(&self, gvk: &Gvk) -> Vec<Arc<Entry>> {
        self.snapshots().flat_map(|catalog| catalog.provides(gvk)).cloned().collect()
    }

    fn by_label(&self, label: &str) -> Vec<Arc<Entry>> {
        self.snapshots().flat_map(|catalog| catalog.labelled(label)).cloned().collect()
    }

    fn channel(&self, catalog: &CatalogKey, package: &str, channel: &str) -> Vec<Arc<Entry>> {
        let entries = self.snapshot(catalog).map(|catalog| catalog.channel(package, channel));
        entries.unwrap_or_default().to_vec()
    }

    fn all(&self) -> Vec<Arc<Entry>> {
        self.snapshots().flat_map(|catalog| catalog.entries()).cloned().collect()
    }

    fn named(&self, catalog: &CatalogKey, channel: &str, name: &str) -> Vec<Arc<Entry>> {
        let entries = self.snapshot(catalog).into_iter().flat_map(|catalog| catalog.named(name));
        entries.filter(|entry| *entry.channel == *channel).cloned().collect()
    }

    fn has_entries(&self, catalog: &CatalogKey) -> bool {
        self.snapshot(catalog).is_some_and(|catalog| !catalog.entries().is_empty())
    }
}
