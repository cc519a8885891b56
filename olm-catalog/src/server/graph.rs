//! `graph`: upgrade graphs of channels, for Mermaid or Graphviz.
//!
//! An arrow leads from an older bundle to the one that replaces it; a dotted one to the one that
//! skips it. Bundles that are named and not there have a dashed frame.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};

use super::arguments::GraphForm;
use crate::fbc::{Catalog, Channel, ChannelEntry};

/// A channel with the name of its package.
pub(super) type Selected<'a> = (&'a str, &'a Channel);

/// The channels that are asked for.
///
/// # Errors
/// There are none.
pub(super) fn select<'a>(
    catalog: &'a Catalog,
    package: Option<&str>,
    channel: Option<&str>,
) -> Result<Vec<Selected<'a>>> {
    let packages =
        catalog.packages.values().filter(|row| package.is_none_or(|name| row.name == name));
    let channels: Vec<Selected<'a>> = packages
        .flat_map(|package| package.channels.values().map(|row| (package.name.as_str(), row)))
        .filter(|(_, row)| channel.is_none_or(|name| row.name == name))
        .collect();
    if channels.is_empty() {
        bail!("there is no such package or channel: `list channels` shows which there are");
    }
    Ok(channels)
}

/// Prints the graphs.
pub(super) fn print(
    channels: &[Selected<'_>],
    form: GraphForm,
    out: &mut dyn Write,
) -> io::Result<()> {
    match form {
        GraphForm::Mermaid => writeln!(out, "graph LR")?,
        GraphForm::Dot => writeln!(out, "digraph catalog {{\n  rankdir=LR;\n  node [shape=box];")?,
    }
    let mut first = 0;
    for (place, (package, channel)) in channels.iter().enumerate() {
        let nodes = Nodes::new(channel, first);
        first = first.saturating_add(nodes.numbers.len());
        let title = format!("{package} / {}", channel.name);
        match form {
            GraphForm::Mermaid => mermaid(place, &title, channel, &nodes, out)?,
            GraphForm::Dot => dot(place, &title, channel, &nodes, out)?,
        }
    }
    if form == GraphForm::Dot { writeln!(out, "}}") } else { Ok(()) }
}

/// The bundles of a channel, and those that its entries name, with numbers that no other channel
/// has.
struct Nodes<'a> {
    numbers: BTreeMap<&'a str, usize>,
}

impl<'a> Nodes<'a> {
    fn new(channel: &'a Channel, first: usize) -> Self {
        let own = channel.entries.keys().map(String::as_str);
        let named = channel.entries.values().flat_map(older).map(|(name, _)| name);
        let mut numbers: BTreeMap<&str, usize> = own.chain(named).map(|name| (name, 0)).collect();
        for (number, place) in numbers.values_mut().zip(first..) {
            *number = place;
        }
        Self { numbers }
    }

    fn number(&self, name: &str) -> usize {
        self.numbers.get(name).copied().unwrap_or_default()
    }

    /// Name, number, and whether it is in the channel.
    fn each<'n>(
        &'n self,
        channel: &'n Channel,
    ) -> impl Iterator<Item = (&'a str, usize, bool)> + 'n {
        self.numbers
            .iter()
            .map(|(name, number)| (*name, *number, channel.entries.contains_key(*name)))
    }
}

/// What an entry makes obsolete, and whether it does so by skipping.
fn older(entry: &ChannelEntry) -> impl Iterator<Item = (&str, bool)> {
    let replaces = std::iter::once((entry.replaces.as_str(), false));
    let skips = entry.skips.iter().filter(|name| **name != entry.replaces);
    let all = replaces.chain(skips.map(|name| (name.as_str(), true)));
    all.filter(|(name, _)| !name.is_empty())
}

/// What is written on a bundle: its name, and the versions that go to it directly.
fn label(name: &str, channel: &Channel) -> String {
    match channel.entries.get(name).map(|entry| entry.skip_range.as_str()) {
        None | Some("") => name.to_owned(),
        Some(range) => format!("{name}\n{range}"),
    }
}

fn mermaid(
    place: usize,
    title: &str,
    channel: &Channel,
    nodes: &Nodes<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "  subgraph c{place}[\"{}\"]", entities(title))?;
    for (name, number, there) in nodes.each(channel) {
        let class = match there {
            _ if name == channel.head => ":::head",
            true => "",
            false => ":::missing",
        };
        writeln!(out, "    b{number}[\"{}\"]{class}", entities(&label(name, channel)))?;
    }
    for entry in channel.entries.values() {
        let newer = nodes.number(&entry.name);
        for (name, skipped) in older(entry) {
            let arrow = if skipped { "-.->|skips|" } else { "-->" };
            writeln!(out, "    b{} {arrow} b{newer}", nodes.number(name))?;
        }
    }
    writeln!(out, "  end")?;
    writeln!(out, "  classDef head stroke-width:3px")?;
    writeln!(out, "  classDef missing stroke-dasharray:4")
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

fn dot(
    place: usize,
    title: &str,
    channel: &Channel,
    nodes: &Nodes<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "  subgraph cluster_{place} {{\n    label={};", quoted(title))?;
    for (name, number, there) in nodes.each(channel) {
        let style = match there {
            _ if name == channel.head => ", penwidth=3",
            true => "",
            false => ", style=dashed",
        };
        writeln!(out, "    b{number} [label={}{style}];", quoted(&label(name, channel)))?;
    }
    for entry in channel.entries.values() {
        let newer = nodes.number(&entry.name);
        for (name, skipped) in older(entry) {
            let style = if skipped { " [style=dotted, label=skips]" } else { "" };
            writeln!(out, "    b{} -> b{newer}{style};", nodes.number(name))?;
        }
    }
    writeln!(out, "  }}")
}

/// A text in DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
