//! Order of the entries of one channel: along `replaces` from the only head, newest first.
//!
//! Entries that another entry skips are passed through but left out; entries that the walk does not
//! reach are left out, too (spec catalog-operator 3.5). Takes linear time, also on cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_types::bundle::Entry;
use thiserror::Error;

/// A channel whose entries have no unique order.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChannelOrderError {
    /// Every entry is replaced or skipped by another one.
    #[error(
        "no channel heads (entries not replaced by another entry) found in channel \"{channel}\" of package \"{package}\""
    )]
    NoHead {
        /// Name of the channel.
        channel: Arc<str>,
        /// Name of the package.
        package: Arc<str>,
    },
    /// Following `replaces` from the head comes back to an entry.
    #[error(
        "a cycle exists in the chain of replacement beginning with \"{head}\" in channel \"{channel}\" of package \"{package}\""
    )]
    Cycle {
        /// The entry where the walk began.
        head: Arc<str>,
        /// Name of the channel.
        channel: Arc<str>,
        /// Name of the package.
        package: Arc<str>,
    },
    /// Several entries are replaced by no other one.
    #[error(
        "a unique replacement chain within a channel is required to determine the relative order between channel entries, \
         but {} replacement chains were found in channel \"{channel}\" of package \"{package}\": {}",
        .chains.len(), .chains.join(", ")
    )]
    ManyChains {
        /// First and last entry of each chain, by name of the first.
        chains: Vec<String>,
        /// Name of the channel.
        channel: Arc<str>,
        /// Name of the package.
        package: Arc<str>,
    },
}

pub(super) fn order(entries: &[Arc<Entry>]) -> Result<Vec<Arc<Entry>>, ChannelOrderError> {
    let Some(first) = entries.first() else {
        return Ok(Vec::new());
    };
    let graph = Graph::new(entries);
    let mut chains = graph.heads().map(|head| graph.chain(head)).collect::<Result<Vec<_>, _>>()?;
    match (chains.pop(), chains.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(ChannelOrderError::NoHead {
            channel: first.channel.clone(),
            package: first.package.clone(),
        }),
        (Some(last), false) => {
            chains.push(last);
            Err(many_chains(first, &chains))
        }
    }
}

struct Graph<'a> {
    by_name: BTreeMap<&'a str, &'a Arc<Entry>>,
    replaced: BTreeSet<&'a str>,
    skipped: BTreeSet<&'a str>,
}

impl<'a> Graph<'a> {
    fn new(entries: &'a [Arc<Entry>]) -> Self {
        let by_name = entries.iter().map(|entry| (&*entry.name, entry)).collect();
        let replaced = entries.iter().filter_map(|entry| entry.replaces.as_deref()).collect();
        let skipped =
            entries.iter().flat_map(|entry| entry.skips.iter().map(|skip| &**skip)).collect();
        Self { by_name, replaced, skipped }
    }

    fn heads(&self) -> impl Iterator<Item = &'a Arc<Entry>> {
        self.by_name
            .iter()
            .filter(|(name, _)| !self.replaced.contains(*name) && !self.skipped.contains(*name))
            .map(|(_, entry)| *entry)
    }

    fn chain(&self, head: &Arc<Entry>) -> Result<Vec<Arc<Entry>>, ChannelOrderError> {
        let mut chain = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = Some(head);
        while let Some(entry) = next {
            if !seen.insert(&*entry.name) {
                return Err(ChannelOrderError::Cycle {
                    head: head.name.clone(),
                    channel: head.channel.clone(),
                    package: head.package.clone(),
                });
            }
            if !self.skipped.contains(&*entry.name) {
                chain.push(entry.clone());
            }
            next = entry.replaces.as_deref().and_then(|name| self.by_name.get(name)).copied();
        }
        Ok(chain)
    }
}

fn many_chains(first: &Entry, chains: &[Vec<Arc<Entry>>]) -> ChannelOrderError {
    let ends = |chain: &Vec<Arc<Entry>>| match chain.as_slice() {
        [] => "[]".to_owned(),
        [only] => only.name.to_string(),
        [newest, .., oldest] => format!("{}...{}", newest.name, oldest.name),
    };
    ChannelOrderError::ManyChains {
        chains: chains.iter().map(ends).collect(),
        channel: first.channel.clone(),
        package: first.package.clone(),
    }
}

#[cfg(test)]
mod tests {
    use olm_types::bundle::CatalogKey;
    use rstest::rstest;

    use super::*;

    /// Reads "a>b~c,d": a replaces b and skips c and d.
    fn entry(text: &str) -> Arc<Entry> {
        let (rest, skips) = text.split_once('~').unwrap_or((text, ""));
        let (name, replaces) = rest.split_once('>').unwrap_or((rest, ""));
        Arc::new(Entry {
            replaces: Some(replaces.into()).filter(|_| !replaces.is_empty()),
            skips: skips.split(',').filter(|skip| !skip.is_empty()).map(Into::into).collect(),
            ..Entry::new(CatalogKey::new("olm", "cat"), "package", "channel", name)
        })
    }

    const MANY: &str = "a unique replacement chain within a channel is required to determine the relative order between \
        channel entries, but 2 replacement chains were found in channel \"channel\" of package \"package\": a, b...c";

    #[rstest]
    #[case("b a>b", "a b")]
    #[case("", "")]
    #[case(
        "a>b b>a",
        "no channel heads (entries not replaced by another entry) found in channel \"channel\" of package \"package\""
    )]
    #[case(
        "a>b b>c c>b",
        "a cycle exists in the chain of replacement beginning with \"a\" in channel \"channel\" of package \"package\""
    )]
    #[case("a>b~b b", "a")]
    #[case("a>b~c b>c c", "a b")]
    #[case("a b>c c", MANY)]
    #[case("a>gone", "a")]
    fn sorts(#[case] entries: &str, #[case] wanted: &str) {
        let entries: Vec<_> = entries.split_whitespace().map(entry).collect();
        let got = match order(&entries) {
            Ok(ordered) => ordered.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, wanted);
    }
}
