//! A graph on a terminal: a line for each bundle, the newest first, a lane for each channel.

use olm_client::clean::cell;
use olm_plan::graph::picture::State;
use olm_plan::graph::{Edge, Graph, Lane, Node, Row};

/// Most tracks of a lane that are drawn; edges on others are named in the notes only.
const TRACKS: usize = 4;

/// The whole picture.
pub fn draw(graph: &Graph) -> String {
    let mut text = heading(graph);
    let versions: Vec<String> =
        graph.rows.iter().map(|row| cell(row.version.as_deref().unwrap_or("-"))).collect();
    let names: Vec<String> = graph.rows.iter().map(|row| cell(&row.bundle)).collect();
    let widest =
        |all: &[String]| all.iter().map(|one| one.chars().count()).max().unwrap_or_default();
    let (of_version, of_name) = (widest(&versions), widest(&names));
    for (number, row) in graph.rows.iter().enumerate() {
        let lanes: String = (0..graph.lanes.len()).map(|lane| part(graph, lane, number)).collect();
        let notes = notes(graph, number, row);
        let line = format!(
            "{:<of_version$}  {:<of_name$}  {lanes}  {}",
            versions[number],
            names[number],
            cell(&notes.join("; "))
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if graph.omitted > 0 {
        text.push_str(&format!("{} more upgrades are not shown\n", graph.omitted));
    }
    text + "◉ installed  ● reachable  ○ other  ◌ skipped  ✕ dead end\n"
}

fn heading(graph: &Graph) -> String {
    let mut text = format!("{} of catalog {}", cell(&graph.package), cell(&graph.catalog));
    if let Some(installed) = &graph.installed {
        let elsewhere = if graph.is_installed_elsewhere { ", which is in no channel" } else { "" };
        text.push_str(&format!(", installed: {}{elsewhere}", cell(installed)));
    }
    text.push('\n');
    if let Some(why) = &graph.deprecated {
        text.push_str(&format!("deprecated: {}\n", cell(why)));
    }
    for (number, lane) in graph.lanes.iter().enumerate() {
        text.push_str(&of_lane(number, lane));
    }
    text
}

fn of_lane(number: usize, lane: &Lane) -> String {
    let marks = [(lane.is_default, "default"), (lane.is_followed, "followed")];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let marks = match marks.as_slice() {
        [] => String::new(),
        marks => format!(" ({})", marks.join(", ")),
    };
    let head = match lane.heads.as_slice() {
        [one] => format!("head {}", cell(one)),
        [] => "no head: every bundle is replaced or skipped".to_owned(),
        several => format!("{} heads, so nothing of it is installed: {}", several.len(), {
            cell(&several.join(", "))
        }),
    };
    let deprecated = lane.deprecated.as_ref();
    let deprecated = deprecated.map(|why| format!(", deprecated: {}", cell(why)));
    format!(
        "lane {}: channel {}{marks}, {head}{}\n",
        number + 1,
        cell(&lane.channel),
        deprecated.unwrap_or_default()
    )
}

/// What is drawn of a lane in a row: its node, and the edges beside it.
fn part(graph: &Graph, lane: usize, row: usize) -> String {
    let node = graph.nodes_of(lane).find(|(_, node)| node.row == row);
    let mut text = String::new();
    text.push(match node {
        Some((_, node)) => symbol(node, graph.rows.get(row)),
        None if passes(graph, lane, row, 0) => '│',
        None => ' ',
    });
    let tracks = graph.lanes.get(lane).map_or(0, |lane| lane.tracks.min(TRACKS));
    for track in 1..=tracks {
        text.push(beside(graph, lane, row, track));
    }
    text + "  "
}

fn symbol(node: &Node, row: Option<&Row>) -> char {
    match State::of(node, row) {
        State::Here => '◉',
        State::DeadEnd => '✕',
        State::Skipped => '◌',
        State::Reachable => '●',
        State::Other => '○',
    }
}

/// The rows of an edge: where it begins and where it ends, from above.
fn rows(graph: &Graph, edge: &Edge) -> (usize, usize, usize) {
    let row = |node: usize| graph.nodes.get(node).map_or(0, |node| node.row);
    let lane = graph.nodes.get(edge.to).map_or(0, |node| node.lane);
    let (a, b) = (row(edge.to), row(edge.from));
    (lane, a.min(b), a.max(b))
}

fn passes(graph: &Graph, lane: usize, row: usize, track: usize) -> bool {
    graph.edges.iter().any(|edge| {
        let (of, top, bottom) = rows(graph, edge);
        of == lane && edge.track == track && top < row && row < bottom
    })
}

fn beside(graph: &Graph, lane: usize, row: usize, track: usize) -> char {
    let on_track = graph.edges.iter().filter(|edge| edge.track == track);
    let (mut begins, mut ends) = (false, false);
    for edge in on_track {
        let (of, top, bottom) = rows(graph, edge);
        begins |= of == lane && top == row;
        ends |= of == lane && bottom == row;
    }
    match (begins, ends) {
        (true, true) => '┤',
        (true, false) => '╮',
        (false, true) => '╯',
        (false, false) if passes(graph, lane, row, track) => '│',
        (false, false) => ' ',
    }
}

/// What the picture does not say.
fn notes(graph: &Graph, number: usize, row: &Row) -> Vec<String> {
    let mut notes = Vec::new();
    if row.is_here {
        notes.push("you are here".to_owned());
    }
    let heads = graph.nodes.iter().filter(|node| node.row == number && node.is_head);
    let heads = heads.filter_map(|node| graph.lanes.get(node.lane));
    let heads: Vec<&str> = heads.map(|lane| lane.channel.as_str()).collect();
    if !heads.is_empty() {
        notes.push(format!("head of {}", heads.join(", ")));
    }
    let here = graph.nodes.iter().filter(|node| node.row == number);
    let ranges = here.clone().filter_map(|node| node.skip_range.as_deref());
    let ranges: std::collections::BTreeSet<&str> = ranges.collect();
    notes.extend(ranges.into_iter().map(|range| format!("skips {range}")));
    let absent: std::collections::BTreeSet<&str> =
        here.flat_map(|node| &node.absent).map(String::as_str).collect();
    if !absent.is_empty() {
        let absent: Vec<&str> = absent.into_iter().collect();
        notes.push(format!("follows {}, which is not there", absent.join(", ")));
    }
    notes.extend(row.deprecated.iter().map(|why| format!("deprecated: {why}")));
    notes
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn a_graph_is_drawn_with_a_line_for_each_bundle() {
        let expected = "\
a of catalog olm/c, installed: a.v1
lane 1: channel stable (default, followed), head a.v3
lane 2: channel fast, head a.v3
3.0.0  a.v3  ●╮  ●    head of stable, fast
2.0.0  a.v2  ◌│  ●
1.0.0  a.v1  ◉╯  ◉    you are here
◉ installed  ● reachable  ○ other  ◌ skipped  ✕ dead end
";
        assert_eq!(draw(&example()), expected);
    }
}
