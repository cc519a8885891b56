//! Bundles as a resolver sees them, and the trait through which it sees catalogs.

mod entry;

use std::sync::Arc;

use crate::gvk::Gvk;

pub use entry::{BundleContent, CatalogKey, Deprecations, Entry, Property};

/// One catalog with its rank.
#[derive(Clone, Debug)]
pub struct CatalogView {
    /// Which CatalogSource it is.
    pub key: CatalogKey,
    /// `spec.priority`; higher is preferred.
    pub priority: i64,
    /// Why the catalog cannot be used now, if so: it then has no entries.
    pub unavailable: Option<String>,
}

/// All bundles that may be chosen in one namespace.
///
/// Implementations answer from indexes and in a fixed order (package, channel, then catalog
/// order), so that the same content always gives the same answer.
pub trait Universe {
    /// The catalogs, sorted by key.
    fn catalogs(&self) -> Vec<CatalogView>;

    /// Every entry of a package, in every catalog and channel.
    fn by_package(&self, package: &str) -> Vec<Arc<Entry>>;

    /// Every entry that provides the API.
    fn by_gvk(&self, gvk: &Gvk) -> Vec<Arc<Entry>>;

    /// Every entry with the `olm.label` property.
    fn by_label(&self, label: &str) -> Vec<Arc<Entry>>;

    /// The entries of one channel of one package of one catalog.
    fn channel(&self, catalog: &CatalogKey, package: &str, channel: &str) -> Vec<Arc<Entry>>;

    /// Every entry, for constraints that no index serves.
    fn all(&self) -> Vec<Arc<Entry>>;

    /// The entries of one catalog that have this name, in channels of this name. More than one if
    /// packages share both names.
    fn named(&self, catalog: &CatalogKey, channel: &str, name: &str) -> Vec<Arc<Entry>> {
        let mut all = self.all();
        all.retain(|entry| {
            entry.catalog == *catalog && *entry.channel == *channel && *entry.name == *name
        });
        all
    }

    /// Whether the catalog is known and has an entry.
    fn has_entries(&self, catalog: &CatalogKey) -> bool {
        self.all().iter().any(|entry| entry.catalog == *catalog)
    }
}
