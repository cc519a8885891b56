//! Packages as people look at them: PackageManifests, made from a snapshot and the CSVs at the heads
//! of its channels (spec catalog-operator 7).
//!
//! ```text
//! Head::read            what a CSV says about itself
//! manifest              a package of a catalog, with its channels
//! StoredPackage::new    the same, packed: descriptions are most of it, and compress well
//! ```
//! Nothing here does I/O.

mod head;
mod stored;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{
    AppLink, ChannelEntry, Deprecation, PackageChannel, PackageManifest, PackageManifestSpec,
    PackageManifestStatus,
};
use olm_types::bundle::{CatalogKey, Entry};
use olm_types::properties::kinds::DEPRECATED;
use olm_types::version::Version;

use crate::snapshot::{ChannelSummary, PackageSummary};

pub use head::{Head, HeadError};
pub use stored::{DEFAULT_ICON, Icon, StoredError, StoredPackage};

/// What packages show of their CatalogSource.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogFacts {
    /// Which CatalogSource it is.
    pub key: CatalogKey,
    /// Its name for people.
    pub display_name: String,
    /// Who publishes it.
    pub publisher: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// When it was created.
    pub created: Option<Time>,
}

/// The CSVs at the heads of channels, by name of the bundle. Those that are unavailable are
/// missing.
pub type Heads = BTreeMap<Arc<str>, Head>;

/// Most that a package shows, in bytes of the CSVs at the heads of its channels, each counted for every
/// channel that shows it. The packages of published catalogs show a tenth of it.
pub const SHOWN_BYTES: usize = 32 << 20;

/// No channel of a package has a CSV that can be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packagemanifest has no valid channels")]
pub struct NoValidChannels;

/// A package with its channels, sorted by name. A channel whose CSV is unavailable is left out, and
/// so are those beyond [`SHOWN_BYTES`], the default channel last; when that one is left out, the
/// first one that is left takes its place.
///
/// # Errors
/// When no channel is left.
pub fn manifest(
    catalog: &CatalogFacts,
    name: &str,
    package: &PackageSummary,
    entries: &[Arc<Entry>],
    heads: &Heads,
) -> Result<PackageManifest, NoValidChannels> {
    let entries = by_channel(entries);
    let usable = package
        .channels
        .iter()
        .filter_map(|(channel, summary)| Some((channel, summary, heads.get(&summary.head)?)));
    let usable = within(usable.collect(), &package.default_channel);
    let first = usable.first().ok_or(NoValidChannels)?;
    let default = usable.iter().find(|(channel, ..)| **channel == package.default_channel);
    let (default_channel, _, default_head) = default.unwrap_or(first);
    let channels = usable.iter().map(|(name, summary, head)| {
        channel(name, summary, head, entries.get(*name).cloned().unwrap_or_default())
    });
    let status = PackageManifestStatus {
        catalog_source: catalog.key.name.to_string(),
        catalog_source_display_name: catalog.display_name.clone(),
        catalog_source_publisher: catalog.publisher.clone(),
        catalog_source_namespace: catalog.key.namespace.to_string(),
        provider: Some(default_head.description.provider.clone().unwrap_or_else(AppLink::default)),
        package_name: name.to_owned(),
        deprecation: deprecation(package.deprecation.as_ref()),
        channels: channels.collect(),
        default_channel: default_channel.to_string(),
    };
    let mut manifest = PackageManifest::new(name, PackageManifestSpec {});
    manifest.metadata.namespace = Some(catalog.key.namespace.to_string());
    manifest.metadata.labels = Some(labels(catalog, default_head));
    manifest.metadata.creation_timestamp.clone_from(&catalog.created);
    manifest.status = Some(status);
    Ok(manifest)
}

/// A channel, what the catalog says of it, and the CSV at its head.
type Usable<'a> = (&'a Arc<str>, &'a ChannelSummary, &'a Head);

/// The channels that may be shown together: the default one, and then as many as fit.
fn within<'a>(usable: Vec<Usable<'a>>, default: &str) -> Vec<Usable<'a>> {
    let is_default = |channel: &Usable<'_>| **channel.0 == *default;
    let own = usable.iter().find(|channel| is_default(channel)).map_or(0, |found| found.2.bytes);
    let mut left = SHOWN_BYTES.saturating_sub(own);
    let mut fits = |bytes: usize| match left.checked_sub(bytes) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    usable.into_iter().filter(|channel| is_default(channel) || fits(channel.2.bytes)).collect()
}

fn channel(
    name: &str,
    summary: &ChannelSummary,
    head: &Head,
    entries: Vec<ChannelEntry>,
) -> PackageChannel {
    PackageChannel {
        name: name.to_owned(),
        current_csv: head.name.clone(),
        current_csv_desc: Some(head.description.clone()),
        deprecation: deprecation(summary.deprecation.as_ref()),
        entries,
    }
}

/// Entries of each channel, highest version first; without a version last. Those with the property
/// `olm.deprecated` are not shown.
fn by_channel(entries: &[Arc<Entry>]) -> BTreeMap<Arc<str>, Vec<ChannelEntry>> {
    let hidden = |entry: &Entry| entry.properties.iter().any(|one| &*one.kind == DEPRECATED);
    let mut sorted: Vec<_> = entries.iter().filter(|entry| !hidden(entry)).collect();
    let none = Version::new(0, 0, 0);
    sorted.sort_by_key(|entry| Reverse(entry.version.clone().unwrap_or_else(|| none.clone())));
    let mut channels: BTreeMap<Arc<str>, Vec<ChannelEntry>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for entry in sorted {
        if seen.insert((Arc::clone(&entry.channel), Arc::clone(&entry.name))) {
            channels.entry(Arc::clone(&entry.channel)).or_default().push(shown(entry));
        }
    }
    channels
}

fn shown(entry: &Entry) -> ChannelEntry {
    ChannelEntry {
        name: entry.name.to_string(),
        version: entry.version.as_ref().map(ToString::to_string),
        deprecation: deprecation(entry.deprecations.bundle.as_ref()),
    }
}

fn deprecation(message: Option<&Arc<str>>) -> Option<Deprecation> {
    message.map(|message| Deprecation { message: message.to_string() })
}

const SUPPORTED: &str = "supported";

/// Prefix of labels about operating systems, and what is assumed without one.
const OS: (&str, &str) = ("operatorframework.io/os", "operatorframework.io/os.linux");

/// The same about architectures.
const ARCH: (&str, &str) = ("operatorframework.io/arch", "operatorframework.io/arch.amd64");

/// The catalog's own labels, then where the package comes from, then what its default CSV says.
fn labels(catalog: &CatalogFacts, default: &Head) -> BTreeMap<String, String> {
    let mut labels = catalog.labels.clone();
    let provider = default.description.provider.clone().unwrap_or_default();
    let own = [
        ("catalog", catalog.key.name.to_string()),
        ("catalog-namespace", catalog.key.namespace.to_string()),
        ("provider", provider.name.unwrap_or_default()),
        ("provider-url", provider.url.unwrap_or_default()),
    ];
    labels.extend(own.map(|(key, value)| (key.to_owned(), value)));
    labels.extend(default.labels.clone());
    for (prefix, assumed) in [OS, ARCH] {
        if !labels.keys().any(|key| key.starts_with(prefix)) {
            labels.insert(assumed.to_owned(), SUPPORTED.to_owned());
        }
    }
    labels
}
