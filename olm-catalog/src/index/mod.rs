//! What the registry protocol is asked for, answered from a valid catalog.
//!
//! A bundle is kept once, however many channels it is in; a channel adds its edges. Answers are
//! messages of the protocol, with the semantics of spec catalog-operator 6.2.

mod csv_metadata;
mod error;
mod metas;
mod providers;
mod record;
mod replacements;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use error::QueryError;

use crate::fbc::{Catalog, Package};
use crate::registry::proto;
use metas::Metas;
use record::EntryRecord;

/// A catalog, ready to be asked.
#[derive(Debug, Default)]
pub struct Index {
    packages: BTreeMap<String, PackageRecord>,
    /// Channel, package and name of every entry, in the order of a listing.
    listing: Vec<(String, String, String)>,
    metas: Metas,
}

#[derive(Debug)]
struct PackageRecord {
    default_channel: String,
    deprecation: Option<proto::Deprecation>,
    channels: BTreeMap<String, ChannelRecord>,
}

#[derive(Debug)]
struct ChannelRecord {
    head: String,
    deprecation: Option<proto::Deprecation>,
    entries: BTreeMap<String, EntryRecord>,
}

impl Index {
    /// Indexes a catalog.
    pub fn new(catalog: Catalog) -> Self {
        let packages: BTreeMap<String, PackageRecord> = catalog
            .packages
            .into_iter()
            .map(|(name, package)| (name, package_record(package)))
            .collect();
        let mut listing = Vec::new();
        for (package, record) in &packages {
            for (channel, record) in &record.channels {
                let keys = record.entries.keys();
                listing.extend(keys.map(|name| (channel.clone(), package.clone(), name.clone())));
            }
        }
        listing.sort();
        Self { packages, listing, metas: Metas::new(catalog.metas) }
    }

    /// Names of all packages, sorted.
    pub fn packages(&self) -> impl Iterator<Item = proto::PackageName> {
        self.packages.keys().map(|name| proto::PackageName { name: name.clone() })
    }

    /// One package; channels are sorted by name.
    ///
    /// # Errors
    /// There is no such package.
    pub fn package(&self, name: &str) -> Result<proto::Package, QueryError> {
        let package = self.package_record(name)?;
        let channels = package.channels.iter().map(|(name, channel)| proto::Channel {
            name: name.clone(),
            csv_name: channel.head.clone(),
            deprecation: channel.deprecation.clone(),
        });
        Ok(proto::Package {
            name: name.to_owned(),
            channels: channels.collect(),
            default_channel_name: package.default_channel.clone(),
            deprecation: package.deprecation.clone(),
        })
    }

    /// How many entries a listing has.
    pub fn len(&self) -> usize {
        self.listing.len()
    }

    /// Whether a listing is empty.
    pub fn is_empty(&self) -> bool {
        self.listing.is_empty()
    }

    /// An entry by its place in the listing (by channel, package, name). Manifests are there
    /// only when the bundle has no image.
    pub fn listed(&self, place: usize) -> Option<proto::Bundle> {
        let (channel, package, name) = self.listing.get(place)?;
        let entry = self.packages.get(package)?.channels.get(channel)?.entries.get(name)?;
        Some(entry.listed(channel))
    }

    /// A bundle with its manifests; its edges are left out, as in `opm`.
    ///
    /// # Errors
    /// There is no such package, channel or bundle.
    pub fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<proto::Bundle, QueryError> {
        let record = self.channel_record(package, channel)?;
        let entry = record.entries.get(name).ok_or_else(|| QueryError::NoBundle {
            package: package.to_owned(),
            channel: channel.to_owned(),
            bundle: name.to_owned(),
        })?;
        Ok(entry.whole(channel))
    }

    /// The head of a channel, like [`Self::bundle`].
    ///
    /// # Errors
    /// There is no such package or channel.
    pub fn head(&self, package: &str, channel: &str) -> Result<proto::Bundle, QueryError> {
        let head = self.channel_record(package, channel)?.head.as_str();
        self.bundle(package, channel, head)
    }

    /// Blobs of a schema without meaning here, of a package or of none.
    pub fn metas(&self, schema: &str, package: &str) -> &[Arc<prost_types::Struct>] {
        self.metas.get(schema, package)
    }

    fn package_record(&self, name: &str) -> Result<&PackageRecord, QueryError> {
        self.packages.get(name).ok_or_else(|| QueryError::NoPackage(name.to_owned()))
    }

    fn channel_record(&self, package: &str, channel: &str) -> Result<&ChannelRecord, QueryError> {
        let record = self.package_record(package)?;
        record.channels.get(channel).ok_or_else(|| QueryError::NoChannel {
            package: package.to_owned(),
            channel: channel.to_owned(),
        })
    }
}

fn package_record(mut package: Package) -> PackageRecord {
    let channels = std::mem::take(&mut package.channels);
    let bodies = record::bodies(&mut package);
    let channels = channels.into_iter().map(|(name, channel)| {
        let entries = channel.entries.into_iter().filter_map(|(name, entry)| {
            let body = Arc::clone(bodies.get(&name)?);
            Some((name, EntryRecord::new(entry, body)))
        });
        let record = ChannelRecord {
            head: channel.head,
            deprecation: record::deprecation(channel.deprecation),
            entries: entries.collect(),
        };
        (name, record)
    });
    PackageRecord {
        default_channel: package.default_channel,
        channels: channels.collect(),
        deprecation: record::deprecation(package.deprecation),
    }
}
