//! A package in detail: its channels and versions, and what one of its bundles brings, needs and may do.

mod bundle;
mod chosen;

use olm_types::api::{ClusterServiceVersion, PackageChannel, PackageManifestStatus, Subscription};
use olm_types::bundle::Entry;
use serde::Serialize;

use crate::search::{PackageRow, row};

pub use bundle::{BundleDetails, dependencies};
pub use chosen::{NoDetails, chosen};

/// A package in detail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// In short.
    #[serde(flatten)]
    pub row: PackageRow,
    /// What its author writes about it, often Markdown.
    pub description: String,
    /// The default channel first, then by name.
    pub channels: Vec<ChannelDetails>,
    /// One of its bundles.
    pub bundle: BundleDetails,
    /// What is not known, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelDetails {
    /// Its name.
    pub name: String,
    /// Whether Subscriptions that name no channel follow it.
    pub is_default: bool,
    /// The CSV that new Subscriptions get.
    pub head: String,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// As the packages API orders them: the newest first.
    pub versions: Vec<VersionDetails>,
}

/// A version of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetails {
    /// Name of its CSV.
    pub csv: String,
    /// The version.
    pub version: String,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// A package in detail. `entry` and `csv` are what the catalog says about the bundle, as far as it was read.
#[must_use]
pub fn details(
    status: &PackageManifestStatus,
    (channel, csv_name): (&PackageChannel, &str),
    subscriptions: &[Subscription],
    entry: Option<&Entry>,
    csv: Option<&ClusterServiceVersion>,
) -> Details {
    let is_head = channel.current_csv == csv_name;
    let head = channel.current_csv_desc.as_ref().filter(|_| is_head);
    let mut bundle = BundleDetails {
        csv: csv_name.to_owned(),
        channel: channel.name.clone(),
        ..BundleDetails::default()
    };
    let entries = channel.entries.iter().find(|one| one.name == csv_name);
    bundle.version = entries.and_then(|one| one.version.clone()).unwrap_or_default();
    head.into_iter().for_each(|head| bundle.describe(head));
    entry.into_iter().for_each(|entry| bundle.place(entry));
    csv.into_iter().for_each(|csv| bundle.strategy(csv));
    let description = head.or(channel.current_csv_desc.as_ref());
    Details {
        row: row(status, subscriptions),
        description: description.and_then(|head| head.description.clone()).unwrap_or_default(),
        channels: channels(status),
        bundle,
        unknown: Vec::new(),
    }
}

fn channels(status: &PackageManifestStatus) -> Vec<ChannelDetails> {
    let mut all: Vec<&PackageChannel> = status.channels.iter().collect();
    all.sort_by_key(|channel| (channel.name != status.default_channel, &channel.name));
    let details = |channel: &&PackageChannel| ChannelDetails {
        name: channel.name.clone(),
        is_default: channel.name == status.default_channel,
        head: channel.current_csv.clone(),
        deprecated: channel.deprecation.as_ref().map(|found| found.message.clone()),
        versions: channel
            .entries
            .iter()
            .map(|entry| VersionDetails {
                csv: entry.name.clone(),
                version: entry.version.clone().unwrap_or_default(),
                deprecated: entry.deprecation.as_ref().map(|found| found.message.clone()),
            })
            .collect(),
    };
    all.iter().map(details).collect()
}

#[cfg(test)]
mod tests;
