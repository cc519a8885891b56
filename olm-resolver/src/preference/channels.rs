//! Order of the channels of one catalog: default channels, package name, channel name.
//!
//! The default channel of a later package comes before another channel of an earlier one.

use std::cmp::Ordering;
use std::sync::Arc;

use olm_types::bundle::Entry;

/// A channel of a package within one catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelKey {
    /// Its package.
    pub package: Arc<str>,
    /// Its name.
    pub channel: Arc<str>,
    /// Whether it is the default channel of the package.
    pub is_default: bool,
}

impl From<&Entry> for ChannelKey {
    fn from(entry: &Entry) -> Self {
        Self {
            package: entry.package.clone(),
            channel: entry.channel.clone(),
            is_default: entry.in_default_channel,
        }
    }
}

impl Ord for ChannelKey {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .is_default
            .cmp(&self.is_default)
            .then_with(|| self.package.cmp(&other.package))
            .then_with(|| self.channel.cmp(&other.channel))
    }
}

impl PartialOrd for ChannelKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(package: &str, channel: &str, is_default: bool) -> ChannelKey {
        ChannelKey { package: package.into(), channel: channel.into(), is_default }
    }

    #[test]
    fn default_channels_first_then_package_then_channel() {
        let mut keys = [
            key("a", "z", false),
            key("a", "b", false),
            key("x", "stable", true),
            key("m", "stable", true),
        ];
        keys.sort();
        let wanted = [
            key("m", "stable", true),
            key("x", "stable", true),
            key("a", "b", false),
            key("a", "z", false),
        ];
        assert_eq!(keys, wanted);
    }
}
