//! The upgrade graph of a package, laid out: a lane for each channel, a row for each bundle, edges with the
//! track on which each runs.
//!
//! Everything is a value, so that a terminal, a picture and a table for who cannot see it draw the same. What
//! a catalog says bounds nothing: edges are counted, and what is beyond the limits is counted, too.
//!
//! ```text
//! rows      bundles from the newest to the oldest
//! edges     who follows whom in a lane, and what that means for each bundle
//! tracks    edges beside the nodes that they pass
//! picture   all of it as shapes with coordinates
//! ```

mod edges;
pub mod picture;
mod rows;
#[cfg(test)]
mod tests;
mod tracks;

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};
use olm_types::version::Version;
use serde::Serialize;

use edges::Channel;

/// What is installed of the package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstalledVersion {
    /// Name of the CSV.
    pub csv: String,
    /// Its version.
    pub version: Option<Version>,
    /// The channel that its Subscription follows.
    pub channel: Option<String>,
}

/// A package with the upgrades between its bundles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Graph {
    /// Name of the package.
    pub package: String,
    /// NAMESPACE/NAME of the catalog.
    pub catalog: String,
    /// What the catalog says about the end of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The installed CSV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<String>,
    /// Whether the installed CSV is in no channel that is shown.
    pub is_installed_elsewhere: bool,
    /// Channels, the default one first, then by name.
    pub lanes: Vec<Lane>,
    /// Bundles, the newest first.
    pub rows: Vec<Row>,
    /// Places of bundles in channels, by lane and row.
    pub nodes: Vec<Node>,
    /// Upgrades, by lane, then from the newest bundle.
    pub edges: Vec<Edge>,
    /// Edges that are not listed, because there are too many.
    pub omitted: usize,
}

/// A channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    /// Its name.
    pub channel: String,
    /// Whether Subscriptions that name no channel follow it.
    pub is_default: bool,
    /// Whether the Subscription of the installed CSV follows it.
    pub is_followed: bool,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// Bundles that no other one replaces or skips: one in a sound channel.
    pub heads: Vec<String>,
    /// Where its nodes are, in columns from the left.
    pub x: usize,
    /// Tracks to the right of its nodes.
    pub tracks: usize,
}

/// A bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its name.
    pub bundle: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it is installed.
    pub is_here: bool,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// A bundle in a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Number of its lane.
    pub lane: usize,
    /// Number of its row.
    pub row: usize,
    /// Whether it is what new Subscriptions get.
    pub is_head: bool,
    /// Whether upgrades lead from the installed CSV to it.
    pub is_reachable: bool,
    /// Whether another bundle skips it, so that it is not installed any more.
    pub is_skipped: bool,
    /// Whether no upgrade leads on from it, although it is no head.
    pub is_dead_end: bool,
    /// Versions that are upgraded to it directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_range: Option<String>,
    /// Bundles that it replaces or skips and that are not in the channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

/// An upgrade.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// Number of the node that is upgraded to.
    pub to: usize,
    /// Number of the node that is upgraded from.
    pub from: usize,
    /// What the newer bundle says.
    pub kind: EdgeKind,
    /// Whether it is a step from the installed CSV onwards.
    pub is_reachable: bool,
    /// Where it runs: 0 is straight from node to node, others are beside the nodes, from the left.
    pub track: usize,
}

/// Why an upgrade leads from one bundle to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum EdgeKind {
    /// `replaces`
    Replaces,
    /// `skips`
    Skips,
    /// `skipRange`
    SkipRange,
}

impl EdgeKind {
    /// As catalogs write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Skips => "skips",
            Self::SkipRange => "skipRange",
        }
    }
}

/// Lays out the entries of one package of one catalog; only those of `channel` where one is named.
#[must_use]
pub fn graph(
    entries: &[Arc<Entry>],
    channel: Option<&str>,
    here: Option<&InstalledVersion>,
) -> Graph {
    let shown = |entry: &&Arc<Entry>| channel.is_none_or(|channel| *entry.channel == *channel);
    let entries: Vec<&Arc<Entry>> = entries.iter().filter(shown).collect();
    let Some(first) = entries.first() else { return Graph::default() };
    let rows = rows::ordered(&entries);
    let places: BTreeMap<&str, usize> =
        rows.iter().enumerate().map(|(row, entry)| (&*entry.name, row)).collect();
    let mut graph = Graph {
        package: first.package.to_string(),
        catalog: first.catalog.to_string(),
        deprecated: first.deprecations.package.as_ref().map(ToString::to_string),
        installed: here.map(|here| here.csv.clone()),
        is_installed_elsewhere: here.is_some_and(|here| !places.contains_key(&*here.csv)),
        rows: rows.iter().map(|entry| row(entry, here)).collect(),
        ..Graph::default()
    };
    let installed = here.map(|here| entry_of(first, here));
    let mut left = edges::MOST;
    for channel in channels(&entries) {
        let found = Channel::of(&channel, &places, installed.as_ref(), &mut left);
        let lane = lane(&channel, &found, here, next_x(&graph));
        graph.add(lane, found);
    }
    graph
}

impl Graph {
    /// The rows of a lane's nodes, and their numbers.
    pub fn nodes_of(&self, lane: usize) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(move |(_, node)| node.lane == lane)
    }

    /// Columns of the whole picture.
    #[must_use]
    pub fn width(&self) -> usize {
        next_x(self)
    }

    fn add(&mut self, mut lane: Lane, found: Channel) {
        let (place, before) = (self.lanes.len(), self.nodes.len());
        let mut edges = found.edges;
        let rows: Vec<usize> = found.nodes.iter().map(|node| node.row).collect();
        lane.tracks = tracks::assign(&rows, &mut edges);
        for edge in &mut edges {
            edge.from += before;
            edge.to += before;
        }
        self.nodes.extend(found.nodes.into_iter().map(|node| Node { lane: place, ..node }));
        self.edges.extend(edges);
        self.omitted += found.omitted;
        self.lanes.push(lane);
    }
}

/// The entries of each channel, the default one first.
fn channels<'a>(entries: &[&'a Arc<Entry>]) -> Vec<Vec<&'a Entry>> {
    let mut all: BTreeMap<(bool, &str), Vec<&Entry>> = BTreeMap::new();
    for &entry in entries {
        all.entry((!entry.in_default_channel, &*entry.channel)).or_default().push(entry);
    }
    all.into_values().collect()
}

fn lane(channel: &[&Entry], found: &Channel, here: Option<&InstalledVersion>, x: usize) -> Lane {
    let Some(first) = channel.first() else { return Lane::default() };
    let followed = here.and_then(|here| here.channel.as_deref());
    Lane {
        channel: first.channel.to_string(),
        is_default: first.in_default_channel,
        is_followed: followed == Some(&*first.channel),
        deprecated: first.deprecations.channel.as_ref().map(ToString::to_string),
        heads: found.heads.clone(),
        x,
        tracks: 0,
    }
}

fn next_x(graph: &Graph) -> usize {
    graph.lanes.last().map_or(0, |lane| lane.x + lane.tracks + 1)
}

fn row(entry: &Entry, here: Option<&InstalledVersion>) -> Row {
    Row {
        bundle: entry.name.to_string(),
        version: entry.version.as_ref().map(ToString::to_string),
        is_here: here.is_some_and(|here| *here.csv == *entry.name),
        deprecated: entry.deprecations.bundle.as_ref().map(ToString::to_string),
    }
}

/// What is installed as an entry that upgrades begin with.
fn entry_of(any: &Entry, here: &InstalledVersion) -> Entry {
    let entry = Entry::new(CatalogKey::new("", ""), &any.package, "", &here.csv);
    Entry { version: here.version.clone(), ..entry }
}
