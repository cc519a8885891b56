//! `list`: a catalog as a table.

use std::io::{self, Write};

use anyhow::{Result, bail};

use super::arguments::Listed;
use crate::fbc::{Catalog, ChannelEntry, Package};

/// Rows of equal length; the first is the heading.
pub(super) type Table = Vec<Vec<String>>;

/// The table of what is asked for, of one package or of all.
///
/// # Errors
/// There is no such package.
pub(super) fn table(catalog: &Catalog, what: Listed, package: Option<&str>) -> Result<Table> {
    if let Some(name) = package
        && !catalog.packages.contains_key(name)
    {
        bail!("there is no package {name:?}: `list packages` shows which there are");
    }
    let packages =
        catalog.packages.values().filter(|row| package.is_none_or(|name| row.name == name));
    let heading: &[&str] = match what {
        Listed::Packages => &["PACKAGE", "DEFAULT CHANNEL", "CHANNELS", "BUNDLES"],
        Listed::Channels => &["PACKAGE", "CHANNEL", "HEAD", "ENTRIES"],
        Listed::Bundles => {
            &["PACKAGE", "CHANNEL", "BUNDLE", "REPLACES", "SKIPS", "SKIP RANGE", "IMAGE"]
        }
    };
    let mut table = vec![heading.iter().map(|title| (*title).to_owned()).collect()];
    for package in packages {
        match what {
            Listed::Packages => table.push(package_row(package)),
            Listed::Channels => table.extend(channel_rows(package)),
            Listed::Bundles => table.extend(bundle_rows(package)),
        }
    }
    Ok(table)
}

/// Prints a table with columns as wide as they need to be.
pub(super) fn print(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in table {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn package_row(package: &Package) -> Vec<String> {
    vec![
        package.name.clone(),
        package.default_channel.clone(),
        package.channels.len().to_string(),
        package.bundles.len().to_string(),
    ]
}

fn channel_rows(package: &Package) -> impl Iterator<Item = Vec<String>> {
    package.channels.values().map(|channel| {
        vec![
            package.name.clone(),
            channel.name.clone(),
            channel.head.clone(),
            channel.entries.len().to_string(),
        ]
    })
}

fn bundle_rows(package: &Package) -> impl Iterator<Item = Vec<String>> {
    package.channels.values().flat_map(|channel| {
        channel.entries.values().map(|entry| bundle_row(package, &channel.name, entry))
    })
}

fn bundle_row(package: &Package, channel: &str, entry: &ChannelEntry) -> Vec<String> {
    let image = package.bundles.get(&entry.name).map(|bundle| bundle.image.clone());
    vec![
        package.name.clone(),
        channel.to_owned(),
        entry.name.clone(),
        entry.replaces.clone(),
        entry.skips.join(","),
        entry.skip_range.clone(),
        image.unwrap_or_default(),
    ]
}
