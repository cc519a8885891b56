//! What the registry protocol is asked for, answered from an index of a valid catalog.
//!
//! An index is written once, to a file or to memory, while the catalog is read; a server keeps
//! names and edges in memory and reads the rest by position when it is asked for. A bundle is
//! kept once, however many channels it is in; a channel adds its edges. Answers are messages of
//! the protocol, with the semantics of spec catalog-operator 6.2.

mod build;
mod csv_metadata;
mod encoded;
mod error;
mod manifests;
mod providers;
mod record;
mod replacements;
mod storage;
mod table;

use std::fs::File;
use std::sync::Arc;

use prost::Message;
use prost_types::Struct;
use storage::{Span, Storage};
use table::{BundleRow, ChannelRow, EntryRow, PackageRow, Table};

use crate::fbc::SourceDigest;
use crate::registry::proto;

pub use encoded::EncodedMessage;
pub use error::{IndexError, QueryError};
pub use record::single_bundle;

/// A catalog, ready to be asked.
#[derive(Debug)]
pub struct Index {
    storage: Arc<Storage>,
    table: Table,
    /// Every entry in the order of a listing: places of package, channel and entry.
    listing: Vec<[u32; 3]>,
}

/// An entry with everything around it.
struct Found<'a> {
    package: &'a PackageRow,
    channel: &'a ChannelRow,
    entry: &'a EntryRow,
    bundle: &'a BundleRow,
}

impl Index {
    /// Opens an index that [`Self::build`] wrote, after a look at every byte of it.
    ///
    /// # Errors
    /// The file cannot be read, or is not what was written.
    pub fn open(file: File) -> Result<Self, IndexError> {
        let (storage, table) = Storage::open(file)?;
        let table = serde_json::from_slice(&table)
            .map_err(|_| IndexError::Damaged("its table of contents has another form"))?;
        Ok(Self::new(storage, table))
    }

    fn new(storage: Storage, table: Table) -> Self {
        let listing = listing(&table);
        Self { storage: Arc::new(storage), table, listing }
    }

    /// Digest of the files that the index was made from, if it was made from files.
    pub fn sources(&self) -> Option<&SourceDigest> {
        self.table.sources.as_ref()
    }

    /// Names of all packages, sorted.
    pub fn packages(&self) -> impl Iterator<Item = proto::PackageName> {
        self.table.packages.iter().map(|row| proto::PackageName { name: row.name.clone() })
    }

    /// One package; channels are sorted by name.
    ///
    /// # Errors
    /// There is no such package.
    pub fn package(&self, name: &str) -> Result<proto::Package, QueryError> {
        let package = self.package_row(name)?;
        let channels = package.channels.iter().map(|channel| proto::Channel {
            name: channel.name.clone(),
            csv_name: channel.head.clone(),
            deprecation: record::deprecation(channel.deprecation.as_ref()),
        });
        Ok(proto::Package {
            name: name.to_owned(),
            channels: channels.collect(),
            default_channel_name: package.default_channel.clone(),
            deprecation: record::deprecation(package.deprecation.as_ref()),
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

    /// An entry by its place in the listing (by channel, package, name), if there is one. Manifests
    /// are there only when the bundle has no image.
    pub fn listed(&self, place: usize) -> Option<EncodedMessage<proto::Bundle>> {
        let found = self.at(*self.listing.get(place)?)?;
        let mut answer = self.without_manifests(&found);
        if found.bundle.is_without_image {
            self.add_manifests(&found, &mut answer);
        }
        answer.hold(found.entry.edges().encode_to_vec());
        Some(answer)
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
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let row = self.package_row(package)?;
        let channel = channel_row(row, channel)?;
        let missing = || QueryError::NoBundle {
            package: package.to_owned(),
            channel: channel.name.clone(),
            bundle: name.to_owned(),
        };
        let entry = row.entry(channel, name).ok_or_else(missing)?;
        let bundle = row.bundle(entry).ok_or_else(missing)?;
        Ok(self.whole(&Found { package: row, channel, entry, bundle }))
    }

    /// The head of a channel, like [`Self::bundle`].
    ///
    /// # Errors
    /// There is no such package or channel.
    pub fn head(
        &self,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let head = channel_row(self.package_row(package)?, channel)?.head.as_str();
        self.bundle(package, channel, head)
    }

    /// How many blobs there are of a schema without meaning here, of a package or of none.
    pub fn meta_count(&self, schema: &str, package: &str) -> usize {
        self.meta_spans(schema, package).len()
    }

    /// One of these blobs, if there is one, by its place in catalog order.
    pub fn meta(
        &self,
        schema: &str,
        package: &str,
        place: usize,
    ) -> Option<EncodedMessage<Struct>> {
        let span = self.meta_spans(schema, package).get(place)?;
        let mut answer = EncodedMessage::default();
        answer.store(&self.storage, *span);
        Some(answer)
    }

    fn meta_spans(&self, schema: &str, package: &str) -> &[Span] {
        let spans = self.table.metas.get(schema).and_then(|of_schema| of_schema.get(package));
        spans.map_or(&[], Vec::as_slice)
    }

    fn package_row(&self, name: &str) -> Result<&PackageRow, QueryError> {
        self.table.package(name).ok_or_else(|| QueryError::NoPackage(name.to_owned()))
    }

    fn at(&self, places: [u32; 3]) -> Option<Found<'_>> {
        let [package, channel, entry] = places.map(|place| place as usize);
        let package = self.table.packages.get(package)?;
        let channel = package.channels.get(channel)?;
        let entry = channel.entries.get(entry)?;
        Some(Found { package, channel, entry, bundle: package.bundle(entry)? })
    }

    /// With manifests and without edges.
    fn whole(&self, found: &Found<'_>) -> EncodedMessage<proto::Bundle> {
        let mut answer = self.without_manifests(found);
        self.add_manifests(found, &mut answer);
        answer
    }

    /// Without manifests and edges.
    fn without_manifests(&self, found: &Found<'_>) -> EncodedMessage<proto::Bundle> {
        let mut answer = EncodedMessage::default();
        answer.store(&self.storage, found.bundle.listed);
        answer.hold(entry_fields(found).encode_to_vec());
        answer
    }

    fn add_manifests(&self, found: &Found<'_>, answer: &mut EncodedMessage<proto::Bundle>) {
        found.bundle.manifests.give(&found.package.presentation, &self.storage, answer);
    }
}

/// What an entry adds to its bundle, but for edges.
fn entry_fields(found: &Found<'_>) -> proto::Bundle {
    proto::Bundle {
        channel_name: found.channel.name.clone(),
        skip_range: found.entry.skip_range.clone(),
        deprecation: record::deprecation(found.bundle.deprecation.as_ref()),
        ..proto::Bundle::default()
    }
}

fn channel_row<'a>(package: &'a PackageRow, name: &str) -> Result<&'a ChannelRow, QueryError> {
    package.channel(name).ok_or_else(|| QueryError::NoChannel {
        package: package.name.clone(),
        channel: name.to_owned(),
    })
}

/// Places of all entries, by names of channel, package and bundle.
fn listing(table: &Table) -> Vec<[u32; 3]> {
    let mut listing = Vec::new();
    for (p, package) in (0..).zip(&table.packages) {
        for (c, channel) in (0..).zip(&package.channels) {
            listing.extend((0..).zip(&channel.entries).map(|(e, _)| [p, c, e]));
        }
    }
    let channel = |[p, c, _]: &[u32; 3]| {
        let package = table.packages.get(*p as usize)?;
        Some(package.channels.get(*c as usize)?.name.as_str())
    };
    // Packages and entries are in the order of their names already.
    listing.sort_by_key(channel);
    listing
}
