//! Which entries make a bundle obsolete.

use super::{EncodedMessage, Found, Index, QueryError, channel_row};
use crate::registry::proto;

impl Index {
    /// Entries of every channel that replace or skip a bundle, by package, channel and name; for
    /// an empty name, those that replace nothing.
    /// Each is reported with what it replaces itself.
    ///
    /// # Errors
    /// There is none.
    pub fn entries_that_replace(&self, name: &str) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let mut found = Vec::new();
        for package in &self.table.packages {
            for channel in &package.channels {
                let newer =
                    channel.entries.iter().filter(|entry| entry.older().any(|older| older == name));
                found.extend(newer.map(|entry| proto::ChannelEntry {
                    package_name: package.name.clone(),
                    channel_name: channel.name.clone(),
                    bundle_name: package.name_of(entry).to_owned(),
                    replaces: entry.replaces.clone(),
                }));
            }
        }
        if found.is_empty() { Err(QueryError::NothingReplaces(name.to_owned())) } else { Ok(found) }
    }

    /// A bundle of one channel that replaces or skips another; the first by name.
    ///
    /// # Errors
    /// There is no such package or channel, or nothing in it replaces the bundle.
    pub fn bundle_that_replaces(
        &self,
        name: &str,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let unknown = || QueryError::NoReplacedPackage(package.to_owned());
        let row = self.table.package(package).ok_or_else(unknown)?;
        let channel = channel_row(row, channel)?;
        let newer = channel.entries.iter().find(|entry| entry.older().any(|older| older == name));
        let missing = || QueryError::NoReplacement {
            package: package.to_owned(),
            channel: channel.name.clone(),
        };
        let entry = newer.ok_or_else(missing)?;
        let bundle = row.bundle(entry).ok_or_else(missing)?;
        Ok(self.whole(&Found { package: row, channel, entry, bundle }))
    }
}
