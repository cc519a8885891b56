//! The upgrade graph as a picture, and as a table for who cannot see it.

use std::collections::BTreeMap;

use olm_client::package::Upgrades;
use olm_plan::graph::picture::{Dot, Picture, State, picture};
use olm_plan::graph::{self, Graph};

use super::version_url;

/// Rows of the table.
const ROWS: usize = 300;

/// Channels and upgrades that a row names, each.
const NAMES: usize = 12;

/// A graph with its legend.
pub(super) struct Drawing {
    pub(super) installed: Option<String>,
    pub(super) lanes: Vec<String>,
    pub(super) picture: Picture,
    pub(super) dots: Vec<(String, Dot)>,
    pub(super) rows: Vec<Row>,
    pub(super) more: usize,
    pub(super) unread: Vec<String>,
}

/// A bundle.
pub(super) struct Row {
    pub(super) bundle: String,
    pub(super) version: String,
    pub(super) states: String,
    pub(super) channels: String,
    pub(super) from: String,
}

/// Draws what was read.
pub(super) fn drawing(found: &Upgrades, home: &str) -> Drawing {
    let graph = &found.graph;
    let mut picture = picture(graph);
    let url =
        |dot: &Dot| version_url(home, &graph.package, &graph.catalog, &dot.channel, &dot.bundle);
    let dots = std::mem::take(&mut picture.dots).into_iter().map(|dot| (url(&dot), dot)).collect();
    let places = Places::of(graph);
    let rows = graph.rows.iter().enumerate().take(ROWS);
    let rows = rows.map(|(number, found)| row(graph, found, places.nodes(number), &places));
    Drawing {
        installed: graph.installed.clone(),
        lanes: graph.lanes.iter().map(lane).collect(),
        dots,
        rows: rows.collect(),
        more: graph.rows.len().saturating_sub(ROWS),
        picture,
        unread: found.unread.clone(),
    }
}

fn lane(lane: &graph::Lane) -> String {
    let marks = [(lane.is_default, ", default"), (lane.is_followed, ", followed")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let heads = match lane.heads.as_slice() {
        [] => "no head: every bundle is replaced or skipped".to_owned(),
        [one] => format!("head {one}"),
        several => format!("{} heads, so nothing of it is installed", several.len()),
    };
    format!("{}{marks}: {heads}", lane.channel)
}

/// Which nodes are in a row, and which edges lead to a node: looked for once, as a catalog may have tens of
/// thousands of each.
struct Places {
    by_row: BTreeMap<usize, Vec<usize>>,
    by_node: BTreeMap<usize, Vec<usize>>,
}

impl Places {
    fn of(graph: &Graph) -> Self {
        let mut places = Self { by_row: BTreeMap::new(), by_node: BTreeMap::new() };
        for (place, node) in graph.nodes.iter().enumerate().filter(|(_, node)| node.row < ROWS) {
            places.by_row.entry(node.row).or_default().push(place);
        }
        for (place, edge) in graph.edges.iter().enumerate() {
            places.by_node.entry(edge.to).or_default().push(place);
        }
        places
    }

    fn nodes(&self, row: usize) -> &[usize] {
        self.by_row.get(&row).map_or(&[], Vec::as_slice)
    }

    fn edges(&self, node: usize) -> &[usize] {
        self.by_node.get(&node).map_or(&[], Vec::as_slice)
    }
}

fn row(graph: &Graph, row: &graph::Row, nodes: &[usize], places: &Places) -> Row {
    let found = || nodes.iter().filter_map(|place| graph.nodes.get(*place));
    let mut states: Vec<&str> = found().map(|node| words(State::of(node, Some(row)))).collect();
    states.extend(row.deprecated.is_some().then_some("deprecated"));
    states.retain(|state| !state.is_empty());
    states.sort_unstable();
    states.dedup();
    let channels = found().filter_map(|node| graph.lanes.get(node.lane));
    let mut from: Vec<String> =
        nodes.iter().flat_map(|place| upgrades(graph, places.edges(*place))).collect();
    from.sort_unstable();
    from.dedup();
    Row {
        bundle: row.bundle.clone(),
        version: row.version.clone().unwrap_or_else(|| "unknown".to_owned()),
        states: states.join(", "),
        channels: named(channels.map(|lane| lane.channel.clone()).collect()),
        from: named(from),
    }
}

/// As many as a row names, and how many more there are.
fn named(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    names.extend((more > 0).then(|| format!("and {more} more")));
    names.join(", ")
}

fn words(state: State) -> &'static str {
    match state {
        State::Here => "installed",
        State::DeadEnd => "dead end",
        State::Skipped => "skipped",
        State::Reachable => "reachable",
        State::Other => "",
    }
}

/// What these edges upgrade, and how.
fn upgrades(graph: &Graph, edges: &[usize]) -> impl Iterator<Item = String> {
    edges.iter().filter_map(|place| {
        let edge = graph.edges.get(*place)?;
        let row = graph.nodes.get(edge.from)?.row;
        let (bundle, kind) = (&graph.rows.get(row)?.bundle, edge.kind.as_str());
        Some(format!("{bundle} ({kind})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_a_dozen_and_counts_the_rest() {
        let names = |count: usize| (0..count).map(|number| number.to_string()).collect();
        assert_eq!(named(names(2)), "0, 1");
        assert_eq!(named(names(NAMES)).split(", ").count(), NAMES);
        assert!(named(names(NAMES + 5)).ends_with(", 11, and 5 more"));
    }
}
