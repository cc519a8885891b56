//! Graphs in Mermaid.

use super::{EntryKind, Notation};

/// The notation of Mermaid.
pub(super) struct Mermaid;

impl Notation for Mermaid {
    const BEGIN: &str = "graph LR\n";
    const END: &str = "";
    const CLOSE: &str =
        "  end\n  classDef head stroke-width:3px\n  classDef missing stroke-dasharray:4\n";

    fn open(place: usize, title: &str) -> String {
        format!("  subgraph c{place}[\"{}\"]", entities(title))
    }

    fn node(number: usize, label: &str, kind: EntryKind) -> String {
        let class = match kind {
            EntryKind::Head => ":::head",
            EntryKind::Member => "",
            EntryKind::Missing => ":::missing",
        };
        format!("    b{number}[\"{}\"]{class}", entities(label))
    }

    fn edge(older: usize, newer: usize, skipped: bool) -> String {
        let arrow = if skipped { "-.->|skips|" } else { "-->" };
        format!("    b{older} {arrow} b{newer}")
    }
}

/// Text between quotes in Mermaid, which has no escapes.
fn entities(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '\n' => out.push_str("<br/>"),
            other => out.push(other),
        }
    }
    out
}

/// The notation of DOT.
pub(super) struct Dot;

impl Notation for Dot {
    const BEGIN: &str = "digraph catalog {\n  rankdir=LR;\n  node [shape=box];\n";
    const END: &str = "}\n";
    const CLOSE: &str = "  }\n";

    fn open(place: usize, title: &str) -> String {
        format!("  subgraph cluster_{place} {{\n    label={};", quoted(title))
    }

    fn node(number: usize, label: &str, kind: EntryKind) -> String {
        let style = match kind {
            EntryKind::Head => ", penwidth=3",
            EntryKind::Member => "",
            EntryKind::Missing => ", style=dashed",
        };
        format!("    b{number} [label={}{style}];", quoted(label))
    }

    fn edge(older: usize, newer: usize, skipped: bool) -> String {
        let style = if skipped { " [style=dotted, label=skips]" } else { "" };
        format!("    b{older} -> b{newer}{style};")
    }
}

/// A text in DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
