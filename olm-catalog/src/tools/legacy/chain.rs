//! Which CSVs are in a channel.

use std::collections::{BTreeMap, BTreeSet};

use olm_types::annotations::SKIP_RANGE;
use serde_json::Value;

use super::lists::{LegacyChannel, Lists};
use crate::bundle::Manifest;
use crate::fbc::ChannelEntry;

/// The entries of a channel: its newest CSV, what that replaces, and so on. CSVs that are skipped
/// and there are in the channel, too, without edges of their own.
///
/// # Errors
/// A CSV is missing, or replaces one that replaces it.
pub(super) fn entries(lists: &Lists, channel: &LegacyChannel) -> Result<Vec<ChannelEntry>, String> {
    let mut chain: BTreeMap<String, ChannelEntry> = BTreeMap::new();
    let mut order = Vec::new();
    let mut name = channel.current_csv.clone();
    let mut newer: Option<String> = None;
    while !name.is_empty() {
        let Some((_, csv)) = lists.csvs.get(&name) else {
            return Err(missing(channel, newer.as_deref(), &name));
        };
        let entry = entry(csv);
        let replaces = entry.replaces.clone();
        if chain.insert(name.clone(), entry).is_some() {
            let newer = newer.unwrap_or_default();
            return Err(format!("Cycle detected, {newer} replaces {name}"));
        }
        order.push(name.clone());
        newer = Some(std::mem::replace(&mut name, replaces));
    }
    if order.is_empty() {
        return Err(format!("channel {:?} names no currentCSV", channel.name));
    }
    let alone = skipped(lists, &chain);
    let linked = order.iter().filter_map(|name| chain.remove(name)).collect::<Vec<_>>();
    Ok(linked.into_iter().chain(alone).collect())
}

/// Entries of CSVs that the chain skips and that are there.
fn skipped(lists: &Lists, chain: &BTreeMap<String, ChannelEntry>) -> Vec<ChannelEntry> {
    let names: BTreeSet<&String> = chain.values().flat_map(|entry| &entry.skips).collect();
    let names = names.into_iter();
    let there = names.filter(|name| lists.csvs.contains_key(*name) && !chain.contains_key(*name));
    there.map(|name| ChannelEntry { name: name.clone(), ..ChannelEntry::default() }).collect()
}

fn missing(channel: &LegacyChannel, newer: Option<&str>, name: &str) -> String {
    match newer {
        Some(newer) => format!("Invalid bundle {newer}, replaces nonexistent bundle {name}"),
        None => format!(
            "channel {:?} names the currentCSV {name:?}, which is not in the list {}",
            channel.name,
            super::CSVS
        ),
    }
}

/// What a CSV says about others.
fn entry(csv: &Manifest) -> ChannelEntry {
    let text = |path: &str| {
        let value = csv.object.pointer(path).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let annotations = csv.object.pointer("/metadata/annotations");
    let skip_range = annotations.and_then(|map| map.get(SKIP_RANGE)).and_then(Value::as_str);
    let skips = csv.object.pointer("/spec/skips").and_then(Value::as_array).into_iter().flatten();
    ChannelEntry {
        name: csv.name().to_owned(),
        replaces: text("/spec/replaces"),
        skips: skips.filter_map(Value::as_str).map(str::to_owned).collect(),
        skip_range: skip_range.unwrap_or_default().to_owned(),
    }
}
