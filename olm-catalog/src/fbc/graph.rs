//! Upgrade graph of a channel: its head, and whether everything can be upgraded to it.
//!
//! The walk along `replaces` ends at the first skipped entry, as in `opm`. (A resolver walks on:
//! a cycle behind a skipped entry is found only there.)

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::blob::ChannelEntry;
use super::names::listed;

/// A channel whose graph makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum GraphError {
    #[error("no channel head found in graph")]
    NoHead,
    #[error("multiple channel heads found in graph: {}", listed(.0, ", "))]
    Heads(Vec<String>),
    #[error("detected cycle in replaces chain of upgrade graph: {}", listed(.0, " -> "))]
    Cycle(Vec<String>),
    #[error("channel contains one or more stranded bundles: {}", listed(.0, ", "))]
    Stranded(Vec<String>),
}

/// The entry that no other replaces or skips, when the graph is sound.
pub(super) fn head(entries: &BTreeMap<String, ChannelEntry>) -> Result<String, GraphError> {
    let head = single_head(entries)?;
    let skipped: BTreeSet<&str> =
        entries.values().flat_map(|entry| &entry.skips).map(String::as_str).collect();
    let chain = chain(entries, &head, &skipped)?;
    let reached: BTreeSet<&str> = chain.into_iter().collect();
    let names = entries.keys().map(String::as_str);
    let stranded: Vec<String> = names
        .filter(|name| !reached.contains(name) && !skipped.contains(name))
        .map(str::to_owned)
        .collect();
    if stranded.is_empty() { Ok(head) } else { Err(GraphError::Stranded(stranded)) }
}

fn single_head(entries: &BTreeMap<String, ChannelEntry>) -> Result<String, GraphError> {
    let older: BTreeSet<&str> = entries
        .values()
        .flat_map(|entry| entry.skips.iter().chain([&entry.replaces]))
        .map(String::as_str)
        .collect();
    let mut heads: Vec<String> =
        entries.keys().filter(|name| !older.contains(name.as_str())).cloned().collect();
    match (heads.pop(), heads.is_empty()) {
        (None, _) => Err(GraphError::NoHead),
        (Some(head), true) => Ok(head),
        (Some(last), false) => {
            heads.push(last);
            Err(GraphError::Heads(heads))
        }
    }
}

/// Names from the head along `replaces`, up to the first skipped one or one outside the channel.
fn chain<'a>(
    entries: &'a BTreeMap<String, ChannelEntry>,
    head: &'a str,
    skipped: &BTreeSet<&str>,
) -> Result<Vec<&'a str>, GraphError> {
    let mut chain = vec![head];
    let mut seen = BTreeSet::from([head]);
    let mut current = head;
    while let Some(entry) = entries.get(current).filter(|_| !skipped.contains(current)) {
        current = entry.replaces.as_str();
        if !seen.insert(current) {
            return Err(GraphError::Cycle(cycle(&chain, current)));
        }
        chain.push(current);
    }
    Ok(chain)
}

/// The part of a chain from `start` on, closed by `start` again.
fn cycle(chain: &[&str], start: &str) -> Vec<String> {
    let from_start = chain.iter().copied().skip_while(|name| *name != start);
    from_start.chain([start]).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Entries from `name`, `name>replaces` and `name>replaces!skip!skip`.
    fn entries(text: &str) -> BTreeMap<String, ChannelEntry> {
        let entry = |word: &str| {
            let mut parts = word.split('!');
            let edge = parts.next().unwrap();
            let (name, replaces) = edge.split_once('>').unwrap_or((edge, ""));
            let entry = ChannelEntry {
                name: name.to_owned(),
                replaces: replaces.to_owned(),
                skips: parts.map(str::to_owned).collect(),
                skip_range: String::new(),
            };
            (name.to_owned(), entry)
        };
        text.split_whitespace().map(entry).collect()
    }

    #[rstest]
    #[case::one("v1", "v1")]
    #[case::chain("v1 v2>v1 v3>v2", "v3")]
    #[case::replaces_what_is_elsewhere("v2>v1", "v2")]
    #[case::skipped_entry("v1 v2>v1 v3>v1!v2", "v3")]
    #[case::skips_what_is_replaced("v1 v2>v1!v1", "v2")]
    #[case::cycle_behind_a_skipped_entry("v1>v2 v2>v1 v3>v2!v2!v1", "v3")]
    fn sound(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(head(&entries(text)).as_deref(), Ok(expected));
    }

    #[rstest]
    #[case::none("", "no channel head found in graph")]
    #[case::replace_each_other("v1>v2 v2>v1", "no channel head found in graph")]
    #[case::itself("v1>v1", "no channel head found in graph")]
    #[case::two("v1 v2>v1 v3>v1", "multiple channel heads found in graph: v2, v3")]
    #[case::unconnected("v1 v2", "multiple channel heads found in graph: v1, v2")]
    #[case::cycle_of_one(
        "v4>v4 v5>v4",
        "detected cycle in replaces chain of upgrade graph: v4 -> v4"
    )]
    #[case::cycle_of_three(
        "v1>v3 v2>v1 v3>v2 v4>v3",
        "detected cycle in replaces chain of upgrade graph: v3 -> v2 -> v1 -> v3"
    )]
    #[case::stranded("v1 v2!v3 v3>v1", "channel contains one or more stranded bundles: v1")]
    #[case::stranded_behind_a_skipped_entry(
        "v1 v2>v1 v3>v2!v2",
        "channel contains one or more stranded bundles: v1"
    )]
    fn unsound(#[case] text: &str, #[case] message: &str) {
        assert_eq!(head(&entries(text)).unwrap_err().to_string(), message);
    }
}
