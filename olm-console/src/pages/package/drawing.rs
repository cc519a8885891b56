//! The upgrade graph as a picture, and as a table for who cannot see it.

use olm_client::package::Upgrades;
use olm_plan::graph::Graph;
use olm_plan::graph::picture::{Dot, Picture, State, picture};

use super::version_url;

/// Rows of the table.
const ROWS: usize = 300;

/// Upgrades that a row names.
const EDGES: usize = 12;

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
    let rows = (0..graph.rows.len().min(ROWS)).map(|number| row(graph, number));
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

fn lane(lane: &olm_plan::graph::Lane) -> String {
    let marks = [(lane.is_default, ", default"), (lane.is_followed, ", followed")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let heads = match lane.heads.as_slice() {
        [] => "no head: every bundle is replaced or skipped".to_owned(),
        [one] => format!("head {one}"),
        several => format!("{} heads, so nothing of it is installed", several.len()),
    };
    format!("{}{marks}: {heads}", lane.channel)
}

fn row(graph: &Graph, number: usize) -> Row {
    let Some(row) = graph.rows.get(number) else { return empty() };
    let nodes = || graph.nodes.iter().enumerate().filter(|(_, node)| node.row == number);
    let mut states: Vec<&str> =
        nodes().map(|(_, node)| words(State::of(node, Some(row)))).collect();
    states.extend(row.deprecated.is_some().then_some("deprecated"));
    states.retain(|state| !state.is_empty());
    states.sort_unstable();
    states.dedup();
    let channel = |lane: usize| graph.lanes.get(lane).map(|lane| lane.channel.as_str());
    let channels: Vec<&str> = nodes().filter_map(|(_, node)| channel(node.lane)).collect();
    let mut from: Vec<String> = nodes().flat_map(|(place, _)| upgrades(graph, place)).collect();
    from.sort_unstable();
    from.dedup();
    let more = from.len().saturating_sub(EDGES);
    from.truncate(EDGES);
    from.extend((more > 0).then(|| format!("and {more} more")));
    Row {
        bundle: row.bundle.clone(),
        version: row.version.clone().unwrap_or_else(|| "unknown".to_owned()),
        states: states.join(", "),
        channels: channels.join(", "),
        from: from.join(", "),
    }
}

fn empty() -> Row {
    let [bundle, version, states, channels, from] = Default::default();
    Row { bundle, version, states, channels, from }
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

/// What is upgraded to a node, and how.
fn upgrades(graph: &Graph, node: usize) -> impl Iterator<Item = String> {
    graph.edges.iter().filter(move |edge| edge.to == node).filter_map(|edge| {
        let row = graph.nodes.get(edge.from)?.row;
        let (bundle, kind) = (&graph.rows.get(row)?.bundle, edge.kind.as_str());
        Some(format!("{bundle} ({kind})"))
    })
}
