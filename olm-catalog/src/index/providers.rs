//! Which entries provide an API.

use olm_types::gvk::Gvk;

use super::table::{ChannelRow, EntryRow, PackageRow};
use super::{EncodedMessage, Index, QueryError};
use crate::registry::proto;

impl Index {
    /// Entries of every channel that provide an API: a row for what each replaces and for each
    /// bundle it skips.
    ///
    /// # Errors
    /// There is none.
    pub fn entries_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let all = |_: &PackageRow, _: &ChannelRow, _: &EntryRow| true;
        self.provide(api, all, |_, _, _| true)
    }

    /// Heads of every channel that provide an API: a row for what each replaces and for each
    /// bundle of the channel that it skips.
    ///
    /// # Errors
    /// There is none.
    pub fn heads_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let heads = |package: &PackageRow, channel: &ChannelRow, entry: &EntryRow| {
            package.name_of(entry) == channel.head
        };
        self.provide(api, heads, |package, channel, older| package.entry(channel, older).is_some())
    }

    /// The head of the default channel of the first package (by name) that provides an API.
    ///
    /// # Errors
    /// No channel head provides it, or none of a default channel.
    pub fn default_provider(&self, api: &Gvk) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let rows = self.heads_that_provide(api)?;
        let default = rows.iter().find(|row| {
            let package = self.table.package(&row.package_name);
            package.is_some_and(|package| package.default_channel == row.channel_name)
        });
        let row = default.ok_or_else(|| QueryError::NoDefaultProvider(api.clone()))?;
        self.bundle(&row.package_name, &row.channel_name, &row.bundle_name)
    }

    /// Rows by package, channel and name, for the entries that `counts` takes. `skips` says which
    /// skipped bundles get one.
    fn provide(
        &self,
        api: &Gvk,
        counts: impl Fn(&PackageRow, &ChannelRow, &EntryRow) -> bool,
        skips: impl Fn(&PackageRow, &ChannelRow, &str) -> bool,
    ) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let mut rows = Vec::new();
        let nothing = || QueryError::NothingProvides(api.clone());
        let wanted = self.table.apis.binary_search(api).map_err(|_| nothing())?;
        for package in &self.table.packages {
            let provides = |entry: &&EntryRow| {
                package.bundle(entry).is_some_and(|bundle| bundle.provides.contains(&wanted))
            };
            for channel in &package.channels {
                let entries = channel.entries.iter().filter(provides);
                for entry in entries.filter(|entry| counts(package, channel, entry)) {
                    let skips = |older: &str| skips(package, channel, older);
                    rows.extend(edges(entry, skips).map(|older| proto::ChannelEntry {
                        package_name: package.name.clone(),
                        channel_name: channel.name.clone(),
                        bundle_name: package.name_of(entry).to_owned(),
                        replaces: older.to_owned(),
                    }));
                }
            }
        }
        if rows.is_empty() { Err(nothing()) } else { Ok(rows) }
    }
}

/// What the entry replaces, even if that is nothing, and the skipped bundles that count.
fn edges<'a>(
    entry: &'a EntryRow,
    skips: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let (replaces, skipped) = (entry.older().take(1), entry.older().skip(1));
    replaces.chain(skipped.filter(move |older| skips(older)))
}
