//! Graphs in DOT, the language of Graphviz.

use super::{EntryKind, Notation};

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
