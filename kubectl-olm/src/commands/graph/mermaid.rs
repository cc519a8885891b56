//! A graph as a flowchart of Mermaid. Names come from catalogs: none ends a label.

use std::fmt::Write;

use olm_plan::graph::picture::State;
use olm_plan::graph::{EdgeKind, Graph, Node};

/// The whole chart.
pub fn draw(graph: &Graph) -> String {
    let mut text = String::from("flowchart BT\n");
    for (number, lane) in graph.lanes.iter().enumerate() {
        let default = if lane.is_default { " (default)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  subgraph lane{number}[\"{}{default}\"]", label(&lane.channel));
        for (place, node) in graph.nodes_of(number) {
            let _ =
                writeln!(text, "    n{place}[\"{}\"]{}", of_node(graph, node), class(graph, node));
        }
        text.push_str("  end\n");
    }
    for edge in &graph.edges {
        let line = match edge.kind {
            EdgeKind::Replaces => "-->",
            EdgeKind::Skips | EdgeKind::SkipRange => "-.->",
        };
        let (from, to, kind) = (edge.from, edge.to, edge.kind.as_str());
        let _ = writeln!(text, "  n{from} {line}|{kind}| n{to}");
    }
    text + "  classDef here fill:#2b6,stroke:#063,color:#fff\n  classDef reachable stroke:#2b6,stroke-width:2px\n  \
            classDef skipped stroke-dasharray:4\n  classDef deadEnd stroke:#c33,stroke-width:2px\n"
}

fn of_node(graph: &Graph, node: &Node) -> String {
    let Some(row) = graph.rows.get(node.row) else { return String::new() };
    let deprecated = if row.deprecated.is_some() { "<br>deprecated" } else { "" };
    let head = if node.is_head { "<br>head" } else { "" };
    format!("{}{head}{deprecated}", label(&row.bundle))
}

fn class(graph: &Graph, node: &Node) -> &'static str {
    match State::of(node, graph.rows.get(node.row)) {
        State::Here => ":::here",
        State::DeadEnd => ":::deadEnd",
        State::Skipped => ":::skipped",
        State::Reachable => ":::reachable",
        State::Other => "",
    }
}

/// Text between quotes: every other character than those of names is written by its number.
fn label(text: &str) -> String {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '+' | '/' | ':');
    let mut label = String::new();
    for c in text.chars() {
        if plain(c) {
            label.push(c);
        } else {
            let _ = write!(label, "#{};", u32::from(c));
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn a_chart_has_a_part_for_each_channel() {
        let drawn = draw(&example());
        let expected = "\
flowchart BT
  subgraph lane0[\"stable (default)\"]
    n0[\"a.v3<br>head\"]:::reachable
    n1[\"a.v2\"]:::skipped
    n2[\"a.v1\"]:::here
  end
  subgraph lane1[\"fast\"]
    n3[\"a.v3<br>head\"]:::reachable
    n4[\"a.v2\"]:::reachable
    n5[\"a.v1\"]:::here
  end
";
        assert!(drawn.starts_with(expected), "{drawn}");
        assert!(drawn.contains("  n2 -->|replaces| n0\n"), "{drawn}");
        assert!(drawn.contains("  n1 -.->|skips| n0\n"), "{drawn}");
    }

    #[test]
    fn a_name_ends_no_label() {
        assert_eq!(label("a\"]-->b\n<script>"), "a#34;#93;--#62;b#10;#60;script#62;");
    }
}
