//! The way from the installed bundle to the pinned one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use olm_types::bundle::Entry;

use super::{LISTED, newest_first};

/// Most comparisons of two entries: the largest channels of today have some hundred entries, and each is
/// compared with all others.
const COMPARISONS: usize = 2_000_000;

/// The next bundle on a shortest way of upgrades from `current` to the bundle named `pin`. Bundles that
/// others of the entries skip, and those that are not `usable`, are no steps of it.
///
/// # Errors
/// There is none: the newest bundles that can be reached.
pub(crate) fn upgrade_path(
    pin: &str,
    current: &Entry,
    entries: &[Arc<Entry>],
    usable: impl Fn(&Entry) -> bool,
) -> Result<Arc<str>, Arc<[Arc<str>]>> {
    let skipped: BTreeSet<&Arc<str>> = entries.iter().flat_map(|entry| &entry.skips).collect();
    let is_step = |entry: &&Arc<Entry>| {
        !skipped.contains(&entry.name) && entry.name != current.name && usable(entry)
    };
    let mut unseen: Vec<&Arc<Entry>> = entries.iter().filter(is_step).collect();
    let (mut reached, mut compared) = (Vec::new(), 0);
    // Each with the first step of the way to it.
    let mut open: VecDeque<(&Entry, Option<Arc<str>>)> = [(current, None)].into();
    while let Some((from, first)) = open.pop_front() {
        compared += unseen.iter().map(|entry| 1 + entry.skips.len()).sum::<usize>();
        if compared > COMPARISONS {
            break;
        }
        let (next, rest): (Vec<_>, Vec<_>) =
            unseen.into_iter().partition(|entry| follows(entry, from));
        unseen = rest;
        for entry in next {
            let first = first.clone().unwrap_or_else(|| entry.name.clone());
            if *entry.name == *pin {
                return Ok(first);
            }
            reached.push(entry.clone());
            open.push_back((entry, Some(first)));
        }
    }
    let mut names = newest_first(&reached);
    names.truncate(LISTED);
    Err(names.into())
}

/// Whether an entry may directly follow the installed one: it replaces or skips it by name, or skips its
/// version (spec catalog-operator 3.5).
pub fn follows(entry: &Entry, current: &Entry) -> bool {
    let skips_version = entry
        .skip_range
        .as_ref()
        .zip(current.version.as_ref())
        .is_some_and(|(range, version)| range.contains(version));
    skips_version
        || entry.replaces.as_ref() == Some(&current.name)
        || entry.skips.contains(&current.name)
}
