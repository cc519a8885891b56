//! `graph`: upgrade graphs of channels, for Mermaid or Graphviz.
//!
//! An arrow leads from an older bundle to the one that replaces it; a dotted one to the one that
//! skips it. Bundles that are named and not there have a dashed frame.

mod notations;

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};
use notations::{Dot, Mermaid};

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

/// A way of writing graphs. Every part is a line or several.
trait Notation {
    /// Before all channels.
    const BEGIN: &str;
    /// Behind all channels.
    const END: &str;
    /// Behind one channel.
    const CLOSE: &str;

    /// Before a channel, which has a place among all.
    fn open(place: usize, title: &str) -> String;
    /// A bundle.
    fn node(number: usize, label: &str, kind: EntryKind) -> String;
    /// From an older bundle to a newer one.
    fn edge(older: usize, newer: usize, skipped: bool) -> String;
}

/// What a bundle is to its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Head,
    Member,
    /// It is named by an entry and not there.
    Missing,
}

/// Prints the graphs.
pub(super) fn print(
    channels: &[Selected<'_>],
    form: GraphForm,
    out: &mut dyn Write,
) -> io::Result<()> {
    match form {
        GraphForm::Mermaid => print_as::<Mermaid>(channels, out),
        GraphForm::Dot => print_as::<Dot>(channels, out),
    }
}

fn print_as<N: Notation>(channels: &[Selected<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(N::BEGIN.as_bytes())?;
    let mut first = 0;
    for (place, (package, channel)) in channels.iter().enumerate() {
        let nodes = Nodes::new(channel, first);
        first = first.saturating_add(nodes.numbers.len());
        writeln!(out, "{}", N::open(place, &format!("{package} / {}", channel.name)))?;
        print_channel::<N>(channel, &nodes, out)?;
        out.write_all(N::CLOSE.as_bytes())?;
    }
    out.write_all(N::END.as_bytes())
}

fn print_channel<N: Notation>(
    channel: &Channel,
    nodes: &Nodes<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (name, number) in &nodes.numbers {
        let node = N::node(*number, &label(name, channel), entry_kind(name, channel));
        writeln!(out, "{node}")?;
    }
    for entry in channel.entries.values() {
        let newer = nodes.number(&entry.name);
        for (name, skipped) in older(entry) {
            writeln!(out, "{}", N::edge(nodes.number(name), newer, skipped))?;
        }
    }
    Ok(())
}

fn entry_kind(name: &str, channel: &Channel) -> EntryKind {
    match channel.entries.contains_key(name) {
        _ if name == channel.head => EntryKind::Head,
        true => EntryKind::Member,
        false => EntryKind::Missing,
    }
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
