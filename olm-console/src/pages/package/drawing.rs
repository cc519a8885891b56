//! The upgrade graph as a picture, and as a table for who cannot see it.

use std::collections::BTreeMap;

use olm_client::package::Upgrades;
use olm_plan::graph::picture::{Dot, Picture, State, picture};
use olm_plan::graph::{self, Graph};

use super::super::bounds::{Budget, short};
use super::{url, version_url};

/// Rows of a page of the table.
const ROWS: usize = 40;

/// Channels and upgrades that a row names, each.
const NAMES: usize = 5;

/// Characters of each of them.
const NAME: usize = 60;

/// Channels that are listed.
const LANES: usize = 40;

/// Bytes of a picture. It has as many rows as fit, of these numbers; the table has all.
const PICTURE: usize = 52 * 1024;
const DRAWN: [usize; 6] = [100, 70, 45, 30, 20, 10];

/// Bytes of markup around a name, a line and a dot.
const NAME_MARKUP: usize = 45;
const LINE_MARKUP: usize = 60;
const DOT_MARKUP: usize = 121;

/// A graph with its legend.
pub(super) struct Drawing {
    pub(super) installed: Option<String>,
    pub(super) lanes: Vec<String>,
    pub(super) more_lanes: usize,
    pub(super) picture: Picture,
    pub(super) dots: Vec<(String, Dot)>,
    pub(super) table: Table,
    pub(super) unread: Vec<String>,
}

/// A page of the table.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    /// Of the first row, from one.
    pub(super) first: usize,
    /// Bundles on all pages.
    pub(super) count: usize,
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
}

/// A bundle.
pub(super) struct Row {
    pub(super) bundle: String,
    pub(super) version: String,
    pub(super) states: String,
    pub(super) channels: String,
    pub(super) from: String,
}

/// Draws what was read; `page` is that of the table, from one.
pub(super) fn drawing(found: &Upgrades, home: &str, page: usize) -> Drawing {
    let graph = &found.graph;
    let (picture, dots) = bounded(graph, home);
    Drawing {
        installed: graph.installed.clone(),
        lanes: graph.lanes.iter().take(LANES).map(lane).collect(),
        more_lanes: graph.lanes.len().saturating_sub(LANES),
        dots,
        table: table(graph, home, page),
        picture,
        unread: found.unread.clone(),
    }
}

/// The largest picture that fits, with the addresses of its dots; an empty one where none does.
fn bounded(graph: &Graph, home: &str) -> (Picture, Vec<(String, Dot)>) {
    let nothing = || (Picture { hidden: graph.rows.len(), ..Picture::default() }, Vec::new());
    DRAWN.iter().find_map(|rows| fitting(graph, home, *rows)).unwrap_or_else(nothing)
}

/// A picture of so many rows, if it is small enough.
fn fitting(graph: &Graph, home: &str, rows: usize) -> Option<(Picture, Vec<(String, Dot)>)> {
    let mut picture = picture(graph, rows);
    let url =
        |dot: &Dot| version_url(home, &graph.package, &graph.catalog, &dot.channel, &dot.bundle);
    let dots: Vec<(String, Dot)> =
        std::mem::take(&mut picture.dots).into_iter().map(|dot| (url(&dot), dot)).collect();
    let mut budget = Budget::new(PICTURE);
    let fits = picture.names.iter().all(|name| budget.holds(NAME_MARKUP, &[&name.text]))
        && picture.lines.iter().all(|line| budget.holds(LINE_MARKUP, &[&line.path, &line.title]))
        && dots.iter().all(|(url, dot)| budget.holds(DOT_MARKUP, &[url, &dot.title, &dot.title]));
    fits.then_some((picture, dots))
}

/// A page of all bundles, with the addresses of those beside it.
fn table(graph: &Graph, home: &str, page: usize) -> Table {
    let last = graph.rows.len().div_ceil(ROWS).max(1);
    let page = page.clamp(1, last);
    let start = (page - 1) * ROWS;
    let places = Places::of(graph, start);
    let rows = graph.rows.iter().enumerate().skip(start).take(ROWS);
    let rows = rows.map(|(number, found)| row(graph, found, places.nodes(number), &places));
    let other = |page: usize| {
        let number = page.to_string();
        let params = [
            ("namespace", Some(home)),
            ("name", Some(graph.package.as_str())),
            ("catalog", Some(graph.catalog.as_str())),
            ("page", Some(number.as_str())),
        ];
        format!("{}#bundles", url("/package", &params))
    };
    Table {
        rows: rows.collect(),
        first: start + 1,
        count: graph.rows.len(),
        previous: (page > 1).then(|| other(page - 1)),
        next: (page < last).then(|| other(page + 1)),
    }
}

fn lane(lane: &graph::Lane) -> String {
    let marks = [
        (lane.is_default, ", default"),
        (lane.is_followed, ", followed"),
        (lane.deprecated.is_some(), ", deprecated"),
    ];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let heads = match lane.heads.as_slice() {
        [] => "no head: every bundle is replaced or skipped".to_owned(),
        [one] => format!("head {}", short(one, NAME)),
        several => format!("{} heads, so nothing of it is installed", several.len()),
    };
    format!("{}{marks}: {heads}", short(&lane.channel, NAME))
}

/// Which nodes are in a row, and which edges lead to a node: looked for once, as a catalog may have tens of
/// thousands of each.
struct Places {
    by_row: BTreeMap<usize, Vec<usize>>,
    by_node: BTreeMap<usize, Vec<usize>>,
}

impl Places {
    /// Those of a page of the table that starts with a row.
    fn of(graph: &Graph, start: usize) -> Self {
        let mut places = Self { by_row: BTreeMap::new(), by_node: BTreeMap::new() };
        let is_there = |node: &graph::Node| (start..start + ROWS).contains(&node.row);
        for (place, node) in graph.nodes.iter().enumerate().filter(|(_, node)| is_there(node)) {
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
        bundle: short(&row.bundle, NAME),
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
    names.iter_mut().for_each(|name| *name = short(name, NAME));
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
        let (bundle, kind) = (short(&graph.rows.get(row)?.bundle, NAME / 2), edge.kind.as_str());
        Some(format!("{bundle} ({kind})"))
    })
}

#[cfg(test)]
mod tests {
    use olm_plan::graph::picture::{DOTS, LINES};

    use super::*;

    fn graph(bundles: usize, name: &str) -> Graph {
        let rows = (0..bundles).map(|number| graph::Row {
            bundle: format!("{name}.v{number}"),
            ..graph::Row::default()
        });
        let nodes = (0..bundles).map(|row| graph::Node { row, ..graph::Node::default() });
        let lane = graph::Lane { channel: "stable".to_owned(), ..graph::Lane::default() };
        Graph {
            package: "kettle".to_owned(),
            catalog: "olm/c".to_owned(),
            lanes: vec![lane],
            rows: rows.collect(),
            nodes: nodes.collect(),
            ..Graph::default()
        }
    }

    #[test]
    fn a_row_names_a_few_and_counts_the_rest() {
        let names = |count: usize| (0..count).map(|number| number.to_string()).collect();
        assert_eq!(named(names(2)), "0, 1");
        assert_eq!(named(names(NAMES)).split(", ").count(), NAMES);
        assert!(named(names(NAMES + 5)).ends_with(", 4, and 5 more"));
        assert_eq!(named(vec!["a".repeat(200)]).chars().count(), NAME + 1);
    }

    #[test]
    fn the_table_has_pages() {
        let graph = graph(10_000, "kettle");
        let first = table(&graph, "team", 1);
        assert_eq!((first.rows.len(), first.first, first.count), (ROWS, 1, 10_000));
        assert_eq!(first.previous, None);
        let next = "/package?namespace=team&name=kettle&catalog=olm%2Fc&page=2#bundles";
        assert_eq!(first.next.as_deref(), Some(next));
        let last = table(&graph, "team", usize::MAX);
        assert_eq!((last.first, last.next.as_deref()), (10_000 - ROWS + 1, None));
        assert_eq!(last.rows[ROWS - 1].channels, "stable");
        assert_eq!(table(&Graph::default(), "team", 0).rows.len(), 0);
    }

    #[test]
    fn what_is_too_large_for_a_picture_is_in_the_table_only() {
        let (picture, dots) = bounded(&graph(10_000, "kettle"), "team");
        assert!(!dots.is_empty() && dots.len() <= DOTS && picture.lines.len() <= LINES);
        assert_eq!(picture.hidden, 10_000 - dots.len());
        let (picture, dots) = bounded(&graph(10_000, &"k".repeat(200)), "team");
        assert_eq!((dots.len(), picture.hidden), (45, 10_000 - 45));
        let (picture, dots) = bounded(&graph(50, &"k".repeat(20_000)), "team");
        assert_eq!((picture.hidden, picture.names.len(), dots.len()), (50, 0, 0));
    }
}
