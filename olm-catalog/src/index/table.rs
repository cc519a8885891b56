//! The table of contents: names and edges, and where the rest is. It is all that a server keeps in
//! memory.

use std::collections::BTreeMap;

use olm_types::gvk::Gvk;
use serde::{Deserialize, Serialize};

use super::storage::Span;
use crate::fbc::SourceDigest;

/// What an index holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Table {
    /// Digest of the files it was made from; none when it was not made from files.
    pub(super) sources: Option<SourceDigest>,
    /// By name.
    pub(super) packages: Vec<PackageRow>,
    /// All APIs that bundles provide, sorted.
    pub(super) apis: Vec<Gvk>,
    /// Opaque blobs by schema and package, in catalog order.
    pub(super) metas: BTreeMap<String, BTreeMap<String, Vec<Span>>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PackageRow {
    pub(super) name: String,
    pub(super) default_channel: String,
    pub(super) deprecation: Option<String>,
    pub(super) presentation: PresentationRow,
    /// By name.
    pub(super) bundles: Vec<BundleRow>,
    /// By name.
    pub(super) channels: Vec<ChannelRow>,
}

/// Text and icon of a package, for the CSVs that are made for its bundles; each may be empty.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct PresentationRow {
    pub(super) description: Span,
    pub(super) icon: Span,
}

/// A bundle, kept once, however many channels it is in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BundleRow {
    pub(super) name: String,
    /// What a listing shows of it.
    pub(super) listed: Span,
    /// Its manifests are in listings, too.
    pub(super) is_without_image: bool,
    pub(super) manifests: ManifestRow,
    /// Places in [`Table::apis`].
    pub(super) provides: Vec<usize>,
    pub(super) deprecation: Option<String>,
}

/// The manifests of a bundle as far as the catalog has them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ManifestRow {
    /// All of them, as fields of a message.
    pub(super) objects: Span,
    pub(super) csv: CsvRow,
}

/// Where the text of a CSV is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) enum CsvRow {
    /// There is none.
    #[default]
    None,
    /// Among the objects.
    Given(Span),
    /// Made from metadata: in front of and behind what comes from the package.
    Made {
        front: Span,
        back: Span,
        /// The description comes from the package.
        describe: bool,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChannelRow {
    pub(super) name: String,
    /// Name of the bundle at the head.
    pub(super) head: String,
    pub(super) deprecation: Option<String>,
    /// By name of the bundle.
    pub(super) entries: Vec<EntryRow>,
}

/// A bundle in a channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EntryRow {
    /// Place in [`PackageRow::bundles`].
    pub(super) bundle: usize,
    pub(super) replaces: String,
    pub(super) skips: Vec<String>,
    pub(super) skip_range: String,
}

impl Table {
    pub(super) fn package(&self, name: &str) -> Option<&PackageRow> {
        let place = self.packages.binary_search_by(|row| row.name.as_str().cmp(name)).ok()?;
        self.packages.get(place)
    }
}

impl PackageRow {
    pub(super) fn channel(&self, name: &str) -> Option<&ChannelRow> {
        let place = self.channels.binary_search_by(|row| row.name.as_str().cmp(name)).ok()?;
        self.channels.get(place)
    }

    /// An entry of one of its channels.
    pub(super) fn entry<'a>(&self, channel: &'a ChannelRow, name: &str) -> Option<&'a EntryRow> {
        let bundle = self.bundles.binary_search_by(|row| row.name.as_str().cmp(name)).ok()?;
        let place = channel.entries.binary_search_by_key(&bundle, |entry| entry.bundle).ok()?;
        channel.entries.get(place)
    }

    pub(super) fn bundle(&self, entry: &EntryRow) -> Option<&BundleRow> {
        self.bundles.get(entry.bundle)
    }

    /// Name of the bundle of an entry.
    pub(super) fn name_of(&self, entry: &EntryRow) -> &str {
        self.bundle(entry).map_or("", |bundle| bundle.name.as_str())
    }
}

impl EntryRow {
    /// Names of the entries that this one makes obsolete: what it replaces, then what it skips.
    pub(super) fn older(&self) -> impl Iterator<Item = &str> {
        let skips = self.skips.iter().filter(|name| **name != self.replaces);
        std::iter::once(&self.replaces).chain(skips).map(String::as_str)
    }
}
