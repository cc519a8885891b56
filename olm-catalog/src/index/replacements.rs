//! Which entries make a bundle obsolete.

use super::{Index, QueryError};
use crate::registry::proto;

impl Index {
    /// Entries of every channel that replace or skip a bundle, by package, channel and name.
    /// Each is reported with what it replaces itself.
    ///
    /// # Errors
    /// There is none.
    pub fn entries_that_replace(&self, name: &str) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let mut found = Vec::new();
        for (package, record) in &self.packages {
            for (channel, record) in &record.channels {
                let newer = record
                    .entries
                    .values()
                    .filter(|entry| !name.is_empty() && entry.older().any(|older| older == name));
                found.extend(newer.map(|entry| proto::ChannelEntry {
                    package_name: package.clone(),
                    channel_name: channel.clone(),
                    bundle_name: entry.name.clone(),
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
    ) -> Result<proto::Bundle, QueryError> {
        let record = self.channel_record(package, channel)?;
        let newer = record
            .entries
            .values()
            .find(|entry| !name.is_empty() && entry.older().any(|older| older == name));
        let newer = newer.ok_or_else(|| QueryError::NoReplacement {
            package: package.to_owned(),
            channel: channel.to_owned(),
        })?;
        Ok(newer.whole(channel))
    }
}
