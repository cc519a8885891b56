//! Graphs of small packages, as text: a line for each row, lane and edge.

use std::fmt::Write;
use std::sync::Arc;

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry};
use olm_types::version::Range;
use rstest::rstest;

use super::*;

/// Reads `CHANNEL VERSION[>VERSION][~VERSION,VERSION][^RANGE]`: replaces, skips, skipRange.
fn entry(text: &str) -> Arc<Entry> {
    let (channel, rest) = text.split_once(' ').unwrap();
    let (rest, range) = rest.split_once('^').map_or((rest, None), |(a, b)| (a, Some(b)));
    let (rest, skips) = rest.split_once('~').unwrap_or((rest, ""));
    let (version, replaces) = rest.split_once('>').unwrap_or((rest, ""));
    let name = |version: &str| -> Arc<str> { format!("a.v{version}").into() };
    Arc::new(Entry {
        name: name(version),
        package: "a".into(),
        channel: channel.into(),
        catalog: CatalogKey::new("olm", "c"),
        version: format!("{version}.0.0").parse().ok(),
        replaces: (!replaces.is_empty()).then(|| name(replaces)),
        skips: skips.split(',').filter(|skip| !skip.is_empty()).map(name).collect(),
        skip_range: range.map(|range| Range::parse(range).unwrap()),
        in_default_channel: channel == "stable",
        properties: Vec::new().into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    })
}

fn here(version: &str) -> Option<InstalledVersion> {
    let number = format!("{version}.0.0").parse().ok();
    Some(InstalledVersion {
        csv: format!("a.v{version}"),
        version: number,
        channel: Some("stable".to_owned()),
    })
}

fn laid_out(entries: &[&str], here: Option<InstalledVersion>) -> Graph {
    let entries: Vec<Arc<Entry>> = entries.iter().map(|text| entry(text)).collect();
    graph(&entries, None, here.as_ref())
}

fn drawn(graph: &Graph) -> String {
    let mut text = String::new();
    for (number, lane) in graph.lanes.iter().enumerate() {
        let (x, tracks) = (lane.x, lane.tracks);
        writeln!(text, "{} at {x}, {tracks} tracks, heads {}", lane.channel, lane.heads.join(" "))
            .unwrap();
        for (place, node) in graph.nodes_of(number) {
            let row = &graph.rows[node.row];
            let marks = [
                (row.is_here, "here"),
                (node.is_head, "head"),
                (node.is_reachable, "reachable"),
                (node.is_skipped, "skipped"),
                (node.is_dead_end, "dead end"),
            ];
            let marks: Vec<&str> =
                marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
            writeln!(text, "  {place} row {} {}: {}", node.row, row.bundle, marks.join(", "))
                .unwrap();
        }
    }
    for edge in &graph.edges {
        let (from, to, kind, track) = (edge.from, edge.to, edge.kind.as_str(), edge.track);
        let reach = if edge.is_reachable { ", reachable" } else { "" };
        writeln!(text, "{from} -> {to} {kind} on {track}{reach}").unwrap();
    }
    text
}

#[test]
fn a_chain_is_straight_and_what_comes_is_reachable() {
    let graph = laid_out(&["stable 1", "stable 2>1", "stable 3>2"], here("1"));
    let expected = "\
stable at 0, 0 tracks, heads a.v3
  0 row 0 a.v3: head, reachable
  1 row 1 a.v2: reachable
  2 row 2 a.v1: here
1 -> 0 replaces on 0, reachable
2 -> 1 replaces on 0, reachable
";
    assert_eq!(drawn(&graph), expected);
}

#[test]
fn skips_and_ranges_run_beside_the_nodes_that_they_pass() {
    let graph = laid_out(
        &["stable 1", "stable 2>1", "stable 3>2", "stable 4>1~2,3", "stable 5>4^<4.0.0"],
        here("3"),
    );
    let expected = "\
stable at 0, 5 tracks, heads a.v5
  0 row 0 a.v5: head, reachable
  1 row 1 a.v4: reachable
  2 row 2 a.v3: here, skipped
  3 row 3 a.v2: skipped
  4 row 4 a.v1: 
1 -> 0 replaces on 0, reachable
2 -> 0 skipRange on 1, reachable
3 -> 0 skipRange on 3
4 -> 0 skipRange on 5
2 -> 1 skips on 0, reachable
3 -> 1 skips on 2
4 -> 1 replaces on 4
3 -> 2 replaces on 0
4 -> 3 replaces on 0
";
    assert_eq!(drawn(&graph), expected);
}

#[test]
fn channels_are_lanes_with_the_same_rows() {
    let graph = laid_out(&["fast 1", "fast 2>1", "fast 3>2", "stable 1", "stable 3>1"], here("1"));
    let expected = "\
stable at 0, 0 tracks, heads a.v3
  0 row 0 a.v3: head, reachable
  1 row 2 a.v1: here
fast at 1, 0 tracks, heads a.v3
  2 row 0 a.v3: head, reachable
  3 row 1 a.v2: reachable
  4 row 2 a.v1: here
1 -> 0 replaces on 0, reachable
3 -> 2 replaces on 0, reachable
4 -> 3 replaces on 0, reachable
";
    assert_eq!(drawn(&graph), expected);
    let only = graph_of_fast();
    assert_eq!(only.lanes.len(), 1);
    assert_eq!(only.lanes[0].channel, "fast");
}

fn graph_of_fast() -> Graph {
    graph(&[entry("fast 1"), entry("stable 1")], Some("fast"), None)
}

#[test]
fn what_leads_nowhere_and_what_is_elsewhere_are_named() {
    let graph = laid_out(&["stable 1", "stable 2>0", "stable 3>2"], here("9"));
    assert!(graph.is_installed_elsewhere);
    assert_eq!(graph.nodes[1].absent, ["a.v0"]);
    assert_eq!(graph.lanes[0].heads, ["a.v3", "a.v1"], "two heads: the channel has no order");
    let cut = laid_out(&["stable 1", "stable 2~1", "stable 3", "stable 4>3~2"], None);
    let dead: Vec<bool> = cut.nodes.iter().map(|node| node.is_dead_end).collect();
    assert_eq!(dead, [false, false, false, true], "only a.v2 follows a.v1, and is skipped");
}

#[test]
fn circles_end_and_names_twice_count_once() {
    let circle = laid_out(&["stable 1>3", "stable 2>1", "stable 3>2"], here("1"));
    assert_eq!(circle.lanes[0].heads, Vec::<String>::new());
    let rows: Vec<&str> = circle.rows.iter().map(|row| row.bundle.as_str()).collect();
    assert_eq!(rows, ["a.v3", "a.v2", "a.v1"]);
    assert!(circle.nodes[..2].iter().all(|node| node.is_reachable));
    assert_eq!(laid_out(&["stable 1", "stable 1>1"], None).nodes.len(), 1);
    assert_eq!(graph(&[], None, None), Graph::default());
}

#[test]
fn a_large_channel_is_bounded() {
    let entries: Vec<Arc<Entry>> =
        (1..=3_000).map(|number| entry(&format!("stable {number}^<9000.0.0"))).collect();
    let graph = graph(&entries, None, None);
    assert_eq!(graph.edges.len(), edges::MOST);
    assert!(graph.omitted > 0);
    assert!(graph.lanes[0].tracks <= 12);
}

/// A picture as text: a line for each shape.
fn shapes(graph: &Graph) -> String {
    let drawn = picture::picture(graph, picture::ROWS);
    let mut text = format!("{} x {}\n", drawn.width, drawn.height);
    let lanes = drawn.lanes.iter().map(|one| format!("lane {} at {},{}", one.text, one.x, one.y));
    let names = drawn.names.iter().map(|one| format!("{} at {},{}", one.text, one.x, one.y));
    let lines = drawn.lines.iter().map(|one| {
        let reachable = if one.is_reachable { ", reachable" } else { "" };
        format!("{}: {}{reachable}", one.title, one.path)
    });
    let dots = drawn
        .dots
        .iter()
        .map(|one| format!("{} at {},{}: {}", one.state.as_str(), one.x, one.y, one.title));
    for line in lanes.chain(names).chain(lines).chain(dots) {
        writeln!(text, "{line}").unwrap();
    }
    text
}

#[test]
fn a_channel_is_drawn_from_the_newest_bundle_down() {
    let graph = laid_out(&["stable 1", "stable 2>1", "stable 3>1~2"], here("1"));
    let expected = "\
124 x 148
lane 1 at 64,24
a.v3 at 16,62
a.v2 at 16,90
a.v1 at 16,118
a.v3 skips a.v2: M64 90V62
a.v3 replaces a.v1: M64 118H86V62H64, reachable
a.v2 replaces a.v1: M64 118V90
reachable at 64,62: a.v3 in channel stable, head, reachable
skipped at 64,90: a.v2 in channel stable, skipped
here at 64,118: a.v1 in channel stable, installed
";
    assert_eq!(shapes(&graph), expected);
}

#[test]
fn channels_are_drawn_beside_each_other() {
    let graph = laid_out(&["fast 1", "fast 2>1", "stable 1"], None);
    let expected = "\
124 x 120
lane 1 at 64,24
lane 2 at 86,24
a.v2 at 16,62
a.v1 at 16,90
a.v2 replaces a.v1: M86 90V62
other at 64,90: a.v1 in channel stable, head
other at 86,62: a.v2 in channel fast, head
other at 86,90: a.v1 in channel fast
";
    assert_eq!(shapes(&graph), expected);
}

#[test]
fn a_deprecated_bundle_is_drawn_as_one_beside_what_it_is() {
    let mut old = Arc::unwrap_or_clone(entry("stable 1"));
    old.deprecations.bundle = Some("no fixes".into());
    let graph = graph(&[Arc::new(old), entry("stable 2>1")], None, here("1").as_ref());
    let drawn = picture::picture(&graph, picture::ROWS);
    let dots = drawn.dots.iter().map(|one| (one.state.as_str(), one.is_deprecated));
    assert_eq!(dots.collect::<Vec<_>>(), [("reachable", false), ("here", true)]);
    assert_eq!(drawn.dots[1].title, "a.v1 in channel stable, installed, deprecated");
}

#[test]
fn a_large_picture_is_bounded_and_long_names_are_cut() {
    let entries: Vec<Arc<Entry>> =
        (1..=1_000).map(|number| entry(&format!("stable {number}^<9000.0.0"))).collect();
    let drawn = picture::picture(&graph(&entries, None, None), picture::ROWS);
    assert_eq!((drawn.names.len(), drawn.hidden), (picture::ROWS, 1_000 - picture::ROWS));
    assert_eq!((drawn.lines.len(), drawn.dots.len()), (picture::LINES, picture::ROWS));
    assert!(drawn.hidden_lines > 0, "{}", drawn.hidden_lines);
    let long = "1".repeat(200);
    let drawn = picture::picture(&laid_out(&[&format!("stable {long}")], None), 10);
    assert!(drawn.width < 500 && drawn.names[0].text.ends_with('…'), "{drawn:?}");
    assert_eq!(picture::picture(&Graph::default(), 10).dots, []);
}

#[rstest]
#[case::three_channels(3, 200, 40)]
#[case::as_many_as_fit(40, 10, 3)]
#[case::more_than_fit(41, 10, 0)]
#[case::thousands(2_000, 20, 0)]
fn a_picture_of_many_channels_has_fewer_rows(
    #[case] channels: usize,
    #[case] bundles: usize,
    #[case] rows: usize,
) {
    let entries: Vec<Arc<Entry>> = (0..channels)
        .flat_map(|channel| (1..=bundles).map(move |number| (channel, number)))
        .map(|(channel, number)| entry(&format!("c{channel} {number}")))
        .collect();
    let drawn = picture::picture(&graph(&entries, None, None), picture::ROWS);
    assert_eq!((drawn.names.len(), drawn.hidden), (rows, bundles - rows));
    assert_eq!(drawn.dots.len(), rows * channels);
    assert!(drawn.dots.len() <= picture::DOTS);
}
