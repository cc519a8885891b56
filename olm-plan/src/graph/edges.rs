//! Who follows whom in a channel. Whether one bundle may follow another is the resolver's rule.

use std::collections::{BTreeMap, BTreeSet};

use olm_resolver::follows;
use olm_types::bundle::Entry;

use super::{Edge, EdgeKind, Node};

/// Most edges of a graph. The largest packages of published catalogs have some thousand.
pub(super) const MOST: usize = 20_000;

/// Most pairs of a bundle with `skipRange` and another one that are looked at in a channel.
const PAIRS: usize = 500_000;

/// A channel with its edges. Numbers of nodes begin at 0.
#[derive(Debug, Default)]
pub(super) struct Channel {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) heads: Vec<String>,
    pub(super) omitted: usize,
}

impl Channel {
    /// The channel with these entries; `left` is how many more edges the graph may have.
    pub(super) fn of(
        entries: &[&Entry],
        rows: &BTreeMap<&str, usize>,
        installed: Option<&Entry>,
        left: &mut usize,
    ) -> Self {
        let mut entries: Vec<&Entry> = entries.to_vec();
        entries.sort_by_key(|entry| rows.get(&*entry.name));
        entries.dedup_by_key(|entry| entry.name.clone());
        let places = entries.iter().enumerate().map(|(place, entry)| (&*entry.name, place));
        let places: BTreeMap<&str, usize> = places.collect();
        let mut channel = Self {
            nodes: entries.iter().map(|entry| node(entry, rows, &places)).collect(),
            ..Self::default()
        };
        let all = all_edges(&entries, &places);
        channel.mark(&entries, &all);
        channel.reach(&entries, &all, installed);
        channel.omitted = all.len().saturating_sub(*left);
        channel.edges = all.into_iter().take(*left).collect();
        *left -= channel.edges.len();
        for edge in &mut channel.edges {
            edge.is_reachable = channel.nodes[edge.to].is_reachable
                && (channel.nodes[edge.from].is_reachable
                    || installed.is_some_and(|here| here.name == entries[edge.from].name));
        }
        channel
    }

    /// Heads, what is skipped, and what leads nowhere.
    fn mark(&mut self, entries: &[&Entry], all: &[Edge]) {
        let skipped: BTreeSet<&str> =
            entries.iter().flat_map(|entry| entry.skips.iter().map(|name| &**name)).collect();
        let replaced: BTreeSet<&str> =
            entries.iter().filter_map(|entry| entry.replaces.as_deref()).collect();
        for (node, entry) in self.nodes.iter_mut().zip(entries) {
            node.is_skipped = skipped.contains(&*entry.name);
            node.is_head = !node.is_skipped && !replaced.contains(&*entry.name);
            if node.is_head {
                self.heads.push(entry.name.to_string());
            }
        }
        let onwards = all.iter().filter(|edge| !self.nodes[edge.to].is_skipped);
        let onwards: BTreeSet<usize> = onwards.map(|edge| edge.from).collect();
        for (place, node) in self.nodes.iter_mut().enumerate() {
            node.is_dead_end = !node.is_head && !onwards.contains(&place);
        }
    }

    /// Marks what upgrades lead to, from what is installed. What is skipped is no step.
    fn reach(&mut self, entries: &[&Entry], all: &[Edge], installed: Option<&Entry>) {
        let Some(installed) = installed else { return };
        let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        all.iter().for_each(|edge| next.entry(edge.from).or_default().push(edge.to));
        let first = |(_, entry): &(usize, &&Entry)| {
            entry.name != installed.name && follows(entry, installed)
        };
        let mut open: Vec<usize> =
            entries.iter().enumerate().filter(first).map(|(place, _)| place).collect();
        while let Some(place) = open.pop() {
            let node = &mut self.nodes[place];
            if node.is_skipped || node.is_reachable || entries[place].name == installed.name {
                continue;
            }
            node.is_reachable = true;
            open.extend(next.get(&place).into_iter().flatten());
        }
    }
}

fn node(entry: &Entry, rows: &BTreeMap<&str, usize>, places: &BTreeMap<&str, usize>) -> Node {
    let named = entry.replaces.iter().chain(&entry.skips);
    let absent: BTreeSet<&str> =
        named.map(|name| &**name).filter(|name| !places.contains_key(name)).collect();
    Node {
        row: rows.get(&*entry.name).copied().unwrap_or_default(),
        skip_range: entry.skip_range.as_ref().map(ToString::to_string),
        absent: absent.into_iter().map(str::to_owned).collect(),
        ..Node::default()
    }
}

/// Every pair of bundles of which one may follow the other, each once: what is said by name counts before
/// what follows from versions.
fn all_edges(entries: &[&Entry], places: &BTreeMap<&str, usize>) -> Vec<Edge> {
    let mut found: BTreeMap<(usize, usize), EdgeKind> = BTreeMap::new();
    let mut compared = 0;
    for (to, entry) in entries.iter().enumerate() {
        let named = entry.skips.iter().map(|name| (name, EdgeKind::Skips));
        let named = entry.replaces.iter().map(|name| (name, EdgeKind::Replaces)).chain(named);
        for (name, kind) in named {
            if let Some(from) = places.get(&**name).filter(|from| **from != to) {
                found.entry((to, *from)).or_insert(kind);
            }
        }
        compared += entry.skip_range.as_ref().map_or(0, |_| entries.len());
        if entry.skip_range.is_none() || compared > PAIRS {
            continue;
        }
        for (from, other) in entries.iter().enumerate() {
            if from != to && follows(entry, other) {
                found.entry((to, from)).or_insert(EdgeKind::SkipRange);
            }
        }
    }
    let edge = |((to, from), kind)| Edge { to, from, kind, is_reachable: false, track: 0 };
    found.into_iter().map(edge).collect()
}
