//! Which entries provide an API.

use olm_types::gvk::Gvk;

use super::record::EntryRecord;
use super::{ChannelRecord, Index, QueryError};
use crate::registry::proto;

impl Index {
    /// Entries of every channel that provide an API: a row for what each replaces and for each
    /// bundle it skips.
    ///
    /// # Errors
    /// There is none.
    pub fn entries_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let all = |channel: &ChannelRecord| channel.entries.keys().cloned().collect();
        self.provide(api, all, |_, _| true)
    }

    /// Heads of every channel that provide an API: a row for what each replaces and for each
    /// bundle of the channel that it skips.
    ///
    /// # Errors
    /// There is none.
    pub fn heads_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let head = |channel: &ChannelRecord| vec![channel.head.clone()];
        self.provide(api, head, |channel, older| channel.entries.contains_key(older))
    }

    /// The head of the default channel of the first package (by name) that provides an API.
    ///
    /// # Errors
    /// No channel head provides it, or none of a default channel.
    pub fn default_provider(&self, api: &Gvk) -> Result<proto::Bundle, QueryError> {
        let rows = self.heads_that_provide(api)?;
        let default = rows.iter().find(|row| {
            let package = self.packages.get(&row.package_name);
            package.is_some_and(|package| package.default_channel == row.channel_name)
        });
        let row = default.ok_or_else(|| QueryError::NoDefaultProvider(api.clone()))?;
        self.bundle(&row.package_name, &row.channel_name, &row.bundle_name)
    }

    /// Rows by package, channel and name. `skips` says which skipped bundles get one.
    fn provide(
        &self,
        api: &Gvk,
        candidates: impl Fn(&ChannelRecord) -> Vec<String>,
        skips: impl Fn(&ChannelRecord, &str) -> bool,
    ) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let mut rows = Vec::new();
        for (package, record) in &self.packages {
            for (name, channel) in &record.channels {
                let entries = candidates(channel);
                let entries = entries.iter().filter_map(|entry| channel.entries.get(entry));
                for entry in entries.filter(|entry| entry.provides(api)) {
                    let skips = |older: &str| skips(channel, older);
                    rows.extend(edges(entry, skips).map(|older| proto::ChannelEntry {
                        package_name: package.clone(),
                        channel_name: name.clone(),
                        bundle_name: entry.name.clone(),
                        replaces: older.to_owned(),
                    }));
                }
            }
        }
        if rows.is_empty() { Err(QueryError::NothingProvides(api.clone())) } else { Ok(rows) }
    }
}

/// What the entry replaces, even if that is nothing, and the skipped bundles that count.
fn edges<'a>(
    entry: &'a EntryRecord,
    skips: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let (replaces, skipped) = (entry.older().take(1), entry.older().skip(1));
    replaces.chain(skipped.filter(move |older| skips(older)))
}
