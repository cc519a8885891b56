//! Counts copies. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use olm_lifecycle::copied_csv::Census;

use crate::stores::Stores;

/// Where the copies of the operators that watch all namespaces are.
pub fn census(stores: &Stores) -> Census {
    let namespaces = stores.namespaces.list();
    let staying = namespaces.iter().filter(|found| found.metadata.deletion_timestamp.is_none());
    Census {
        namespaces: staying.filter_map(|found| found.metadata.name.clone()).collect(),
        copies: copies(stores),
    }
}

fn copies(stores: &Stores) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut copies: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for group in stores.global_groups() {
        let home = group.metadata.namespace.clone().unwrap_or_default();
        for csv in stores.csvs.list_in(&home) {
            let name = csv.metadata.name.clone().unwrap_or_default();
            copies.insert((home.clone(), name), BTreeSet::new());
        }
    }
    for copy in stores.copies.list() {
        if let Some(found) = copies.get_mut(&(copy.origin.to_string(), copy.name.to_string())) {
            found.insert(copy.namespace.to_string());
        }
    }
    copies
}
