//! A graph as shapes with coordinates, for whoever draws it: lines first, then dots, then names.
//!
//! The newest bundles are at the top, as in [`Graph`]; those beyond the limit are counted.

use super::{Edge, Graph, Node, Row};

/// Most rows that are drawn: a page stays small, and a table has the rest.
pub const ROWS: usize = 100;

/// Most bundles in channels that are drawn: as many rows as have no more.
pub const DOTS: usize = 120;

/// Most channels beside each other. Of more nothing is drawn.
pub const LANES: usize = 40;

/// Most upgrades that are drawn.
pub const LINES: usize = 160;

/// Most characters of a name that are drawn.
const NAME: usize = 44;

/// Width of a character of a name.
const CHARACTER: usize = 8;

/// From the top to the first row: the names of lanes.
const TOP: usize = 48;

/// From row to row.
const ROW: usize = 28;

/// From column to column.
const COLUMN: usize = 22;

/// Around everything.
const MARGIN: usize = 16;

/// A graph, drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Of the whole picture.
    pub width: usize,
    /// Of the whole picture.
    pub height: usize,
    /// Numbers of lanes, above them.
    pub lanes: Vec<Text>,
    /// Upgrades.
    pub lines: Vec<Line>,
    /// Bundles in channels.
    pub dots: Vec<Dot>,
    /// Names of bundles, beside them.
    pub names: Vec<Text>,
    /// Rows that are not drawn.
    pub hidden: usize,
    /// Upgrades between rows that are drawn, which are not.
    pub hidden_lines: usize,
}

/// A text; `y` is its middle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// From the left.
    pub x: usize,
    /// From the top.
    pub y: usize,
    /// As it is shown.
    pub text: String,
}

/// An upgrade, as a path of SVG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Moves and lines.
    pub path: String,
    /// `replaces`, `skips` or `skipRange`.
    pub kind: &'static str,
    /// Whether it is a step from the installed CSV onwards.
    pub is_reachable: bool,
    /// What it says.
    pub title: String,
}

/// A bundle in a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dot {
    /// From the left.
    pub x: usize,
    /// From the top.
    pub y: usize,
    /// What matters most of it.
    pub state: State,
    /// Whether the catalog says that it comes to an end.
    pub is_deprecated: bool,
    /// Name of the bundle.
    pub bundle: String,
    /// Name of the channel.
    pub channel: String,
    /// What it is, in words.
    pub title: String,
}

/// What a node is, in one word: of several what matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is installed.
    Here,
    /// Nothing leads on from it.
    DeadEnd,
    /// Another bundle skips it.
    Skipped,
    /// Upgrades lead to it.
    Reachable,
    /// None of these.
    Other,
}

impl State {
    /// Of a node in a row.
    #[must_use]
    pub fn of(node: &Node, row: Option<&Row>) -> Self {
        match node {
            _ if row.is_some_and(|row| row.is_here) => Self::Here,
            node if node.is_dead_end => Self::DeadEnd,
            node if node.is_skipped => Self::Skipped,
            node if node.is_reachable => Self::Reachable,
            _ => Self::Other,
        }
    }

    /// As a class of a picture.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::DeadEnd => "dead-end",
            Self::Skipped => "skipped",
            Self::Reachable => "reachable",
            Self::Other => "other",
        }
    }
}

/// Draws so many rows of a graph at most, and never more than [`ROWS`].
#[must_use]
pub fn picture(graph: &Graph, most: usize) -> Picture {
    let rows = drawn_rows(graph, most.min(ROWS));
    if rows == 0 {
        return Picture { hidden: graph.rows.len(), ..Picture::default() };
    }
    let left = left(graph, rows);
    let is_drawn = |edge: &&Edge| {
        let ends = [edge.to, edge.from].map(|end| graph.nodes.get(end));
        ends.iter().all(|end| end.is_some_and(|node| node.row < rows))
    };
    let edges = || graph.edges.iter().filter(is_drawn);
    let lanes = graph.lanes.iter().enumerate().map(|(number, lane)| Text {
        x: left + lane.x * COLUMN,
        y: TOP / 2,
        text: (number + 1).to_string(),
    });
    let names = graph.rows.iter().take(rows).enumerate();
    let nodes = graph.nodes.iter().filter(|node| node.row < rows);
    Picture {
        width: left + graph.width() * COLUMN + MARGIN,
        height: TOP + rows * ROW + MARGIN,
        lanes: lanes.collect(),
        lines: edges().take(LINES).filter_map(|edge| line(graph, edge, left)).collect(),
        dots: nodes.map(|node| dot(graph, node, left)).collect(),
        names: names
            .map(|(number, row)| Text { x: MARGIN, y: y(number), text: name(row) })
            .collect(),
        hidden: graph.rows.len() - rows,
        hidden_lines: edges().count().saturating_sub(LINES),
    }
}

/// As many rows as fit into a picture, from the newest one.
fn drawn_rows(graph: &Graph, most: usize) -> usize {
    if graph.lanes.len() > LANES {
        return 0;
    }
    let mut counts = vec![0; graph.rows.len().min(most)];
    for node in &graph.nodes {
        if let Some(count) = counts.get_mut(node.row) {
            *count += 1;
        }
    }
    let mut dots = 0;
    let fits = |count: &&usize| {
        dots += **count;
        dots <= DOTS
    };
    counts.iter().take_while(fits).count()
}

/// Where the first lane is.
fn left(graph: &Graph, rows: usize) -> usize {
    let widest = graph.rows.iter().take(rows).map(|row| name(row).chars().count()).max();
    2 * MARGIN + widest.unwrap_or_default() * CHARACTER
}

fn name(row: &Row) -> String {
    match row.bundle.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", row.bundle.get(..end).unwrap_or_default()),
        None => row.bundle.clone(),
    }
}

fn y(row: usize) -> usize {
    TOP + row * ROW + ROW / 2
}

fn x(graph: &Graph, node: &Node, left: usize) -> usize {
    left + graph.lanes.get(node.lane).map_or(0, |lane| lane.x) * COLUMN
}

fn dot(graph: &Graph, node: &Node, left: usize) -> Dot {
    let row = graph.rows.get(node.row);
    let bundle = row.map(|row| row.bundle.clone()).unwrap_or_default();
    let channel = graph.lanes.get(node.lane).map(|lane| lane.channel.clone()).unwrap_or_default();
    let is_deprecated = row.is_some_and(|row| row.deprecated.is_some());
    let marks = [
        (row.is_some_and(|row| row.is_here), "installed"),
        (node.is_head, "head"),
        (node.is_reachable, "reachable"),
        (node.is_skipped, "skipped"),
        (node.is_dead_end, "dead end"),
        (is_deprecated, "deprecated"),
    ];
    let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
    let parts = [format!("{bundle} in channel {channel}")];
    let title: Vec<String> = parts.into_iter().chain(marks.map(str::to_owned)).collect();
    let title = title.join(", ");
    Dot {
        x: x(graph, node, left),
        y: y(node.row),
        state: State::of(node, row),
        is_deprecated,
        bundle,
        channel,
        title,
    }
}

/// None where one of its ends is not there.
fn line(graph: &Graph, edge: &Edge, left: usize) -> Option<Line> {
    let (to, from) = (graph.nodes.get(edge.to)?, graph.nodes.get(edge.from)?);
    let (at, top, bottom) = (x(graph, to, left), y(to.row), y(from.row));
    let beside = at + edge.track * COLUMN;
    let path = match edge.track {
        0 => format!("M{at} {bottom}V{top}"),
        _ => format!("M{at} {bottom}H{beside}V{top}H{at}"),
    };
    let of = |node: &Node| graph.rows.get(node.row).map(|row| row.bundle.as_str());
    let kind = edge.kind.as_str();
    let title = format!("{} {kind} {}", of(to).unwrap_or_default(), of(from).unwrap_or_default());
    Some(Line { path, kind, is_reachable: edge.is_reachable, title })
}
