//! The bundles of a resolution, each read once: an entry is found again by its place, and a bundle
//! in several channels has its properties decoded once.

use std::collections::HashMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};

use crate::installed::VIRTUAL_CATALOG;
use crate::problem::{Bundle, BundleId, ClaimsCache};

/// Every bundle that the resolution came across, numbered in that order.
#[derive(Default)]
pub(super) struct Bundles {
    all: Vec<Arc<Bundle>>,
    /// By address. The entries are held, so that no address is used twice.
    by_entry: HashMap<usize, (Arc<Entry>, BundleId)>,
    by_place: HashMap<(Name, Arc<str>), BundleId>,
    /// One bundle per name, whatever its channel.
    by_name: HashMap<Name, BundleId>,
}

/// Catalog, package and name of a bundle.
type Name = (CatalogKey, Arc<str>, Arc<str>);

impl Bundles {
    /// The bundle of an entry; the same one for the same place.
    pub(super) fn intern(&mut self, entry: &Arc<Entry>, known: &ClaimsCache) -> Arc<Bundle> {
        let address = Arc::as_ptr(entry).addr();
        let met = self.by_entry.get(&address).map(|(_, id)| *id);
        if let Some(bundle) = met.and_then(|id| self.all.get(id.index())) {
            return bundle.clone();
        }
        let bundle = self.at_place(entry, known);
        self.by_entry.insert(address, (entry.clone(), bundle.id));
        bundle
    }

    fn at_place(&mut self, entry: &Arc<Entry>, known: &ClaimsCache) -> Arc<Bundle> {
        let name = (entry.catalog.clone(), entry.package.clone(), entry.name.clone());
        let place = (name.clone(), entry.channel.clone());
        if let Some(met) = self.by_place.get(&place).and_then(|id| self.all.get(id.index())) {
            return met.clone();
        }
        let id = BundleId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        let first = *self.by_name.entry(name).or_insert(id);
        let bundle = Arc::new(match self.all.get(first.index()) {
            Some(twin) if twin.entry.properties == entry.properties => {
                Bundle::twin(id, entry.clone(), twin)
            }
            // CSVs are turned into entries anew at every resolution.
            _ if *entry.catalog.name == *VIRTUAL_CATALOG => Bundle::new(id, entry.clone()),
            _ => Bundle::claiming(id, entry.clone(), known.of(&entry.properties)),
        });
        self.by_place.insert(place, id);
        self.all.push(bundle.clone());
        bundle
    }
}
