//! Which CSVs are in a channel, and what they replace and skip.

use std::collections::{BTreeMap, BTreeSet};

use super::bundles::Bundle;

/// Most entries of all channels together. Each CSV and each skip makes one in every channel that
/// leads to it, and packages may share CSVs.
pub(super) const ENTRIES: usize = 250_000;

/// A row of a channel: that one CSV is in it, and which row it replaces. A CSV has a row of its own
/// for what it replaces, and one for each CSV that it skips, beside the row of that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) bundle: String,
    /// Place of another row of the channel.
    pub(super) replaces: Option<usize>,
    /// Distance from the head, whose first row has 0.
    pub(super) depth: usize,
}

/// The rows of a channel, and the CSVs that its head leads to by `replaces`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) entries: Vec<Entry>,
    pub(super) linked: Vec<String>,
}

/// The rows of a channel with this head, at most `most`.
///
/// # Errors
/// A CSV is missing, or replaces one that replaces it, or there are too many rows.
pub(super) fn chain(
    bundles: &BTreeMap<String, Bundle>,
    head: &str,
    most: usize,
) -> Result<Chain, String> {
    let mut chain = Chain::default();
    let (mut depth, mut seen) = (1_usize, BTreeSet::from([head]));
    let mut bundle = bundles.get(head).ok_or_else(|| missing(head))?;
    let mut current = chain.add(head, None, 0);
    loop {
        chain.linked.push(bundle.name.clone());
        for skipped in &bundle.skips {
            let older = chain.add(skipped, None, depth);
            chain.add(&bundle.name, Some(older), depth);
            depth = depth.saturating_add(1);
        }
        if chain.entries.len() > most {
            return Err(format!("all channels together have more than {ENTRIES} entries"));
        }
        let older = bundle.replaces.as_str();
        if older.is_empty() {
            return Ok(chain);
        }
        if !seen.insert(older) {
            return Err(format!("Cycle detected, {} replaces {older}", bundle.name));
        }
        let nonexistent = || format!("Invalid bundle {head}, replaces nonexistent bundle {older}");
        bundle = bundles.get(older).ok_or_else(nonexistent)?;
        let next = chain.add(older, None, depth);
        if let Some(entry) = chain.entries.get_mut(current) {
            entry.replaces = Some(next);
        }
        current = next;
        depth = depth.saturating_add(1);
    }
}

impl Chain {
    /// Adds a row; gives its place.
    fn add(&mut self, bundle: &str, replaces: Option<usize>, depth: usize) -> usize {
        self.entries.push(Entry { bundle: bundle.to_owned(), replaces, depth });
        self.entries.len().saturating_sub(1)
    }
}

fn missing(head: &str) -> String {
    format!("the currentCSV {head:?} is not in the list {}", super::CSVS)
}
