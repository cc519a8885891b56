//! The order of bundles: what replaces or skips another one is above it, otherwise the newer version is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_types::bundle::Entry;
use olm_types::version::Version;

/// A bundle by what it is ordered by.
type Rank<'a> = (Option<&'a Version>, &'a str);

/// One entry for each bundle, from the newest to the oldest. Circles are cut at their newest bundle.
pub(super) fn ordered<'a>(entries: &[&'a Arc<Entry>]) -> Vec<&'a Entry> {
    let bundles: BTreeMap<&str, &Entry> =
        entries.iter().rev().map(|entry| (&*entry.name, &***entry)).collect();
    let below = below(entries, &bundles);
    let mut above: BTreeMap<&str, usize> = BTreeMap::new();
    below.values().flatten().for_each(|&name| *above.entry(name).or_default() += 1);
    let mut left: BTreeSet<Rank<'_>> = bundles.values().map(|entry| rank(entry)).collect();
    let mut free: BTreeSet<Rank<'_>> =
        left.iter().filter(|(_, name)| !above.contains_key(name)).copied().collect();
    let mut rows = Vec::new();
    while let Some(next) = free.pop_last().or_else(|| left.last().copied()) {
        if !left.remove(&next) {
            continue;
        }
        for &name in below.get(next.1).into_iter().flatten() {
            let count = above.entry(name).or_default();
            *count = count.saturating_sub(1);
            if *count == 0
                && let Some(entry) = bundles.get(name)
            {
                free.insert(rank(entry));
            }
        }
        rows.extend(bundles.get(next.1));
    }
    rows
}

fn rank(entry: &Entry) -> Rank<'_> {
    (entry.version.as_ref(), &entry.name)
}

/// What each bundle replaces or skips, in any channel.
fn below<'a>(
    entries: &[&'a Arc<Entry>],
    bundles: &BTreeMap<&str, &Entry>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        let names = entry.replaces.iter().chain(&entry.skips).map(|name| &**name);
        let known = names.filter(|name| bundles.contains_key(name) && **name != *entry.name);
        all.entry(&entry.name).or_default().extend(known);
    }
    all
}
