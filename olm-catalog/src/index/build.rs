//! Makes an index while a catalog is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;

use olm_types::gvk::Gvk;
use prost::Message;

use super::Index;
use super::storage::{Span, Writer};
use super::table::{
    BundleRow, ChannelRow, EntryRow, ManifestRow, PackageRow, PresentationRow, Table,
};
use super::{manifests, record};
use crate::fbc::{
    self, Bundle, BundleContent, Catalog, CatalogError, Channel, Contents, Meta, Package,
    PackageBlob, ReadLimits, SourceDigest,
};

impl Index {
    /// Reads the catalog below `root` and writes its index to `file`, which is empty and can be
    /// read, too; without a file, to memory.
    ///
    /// # Errors
    /// The catalog cannot be read or is not valid, or the index cannot be written.
    pub fn build(
        root: &Path,
        limits: &ReadLimits,
        file: Option<File>,
    ) -> Result<Self, CatalogError> {
        let mut builder = Builder::new(file)?;
        let (catalog, sources) = fbc::load_into(root, limits, &mut builder)?;
        Ok(builder.finish(catalog, Some(sources))?)
    }
}

/// Writes content as it comes, and remembers where it is.
struct Builder {
    writer: Writer,
    packages: BTreeMap<String, PresentationRow>,
    /// By package and name. A second bundle of the same name makes the catalog invalid.
    bundles: BTreeMap<(String, String), Written>,
    metas: BTreeMap<String, BTreeMap<String, Vec<Span>>>,
}

/// A bundle that was written.
#[derive(Default)]
struct Written {
    listed: Span,
    is_without_image: bool,
    manifests: ManifestRow,
    provides: BTreeSet<Gvk>,
}

impl Contents for Builder {
    fn package(&mut self, package: PackageBlob) -> io::Result<()> {
        let presentation = manifests::write_presentation(&mut self.writer, &package)?;
        self.packages.insert(package.name, presentation);
        Ok(())
    }

    fn bundle(&mut self, package: &str, bundle: &Bundle, content: BundleContent) -> io::Result<()> {
        let listed = record::listed(package, bundle, &content).encode_to_vec();
        let listed = self.writer.append(&listed)?;
        let provides = content.properties.provided.iter().cloned().collect();
        let manifests = manifests::write(&mut self.writer, bundle, &content)?;
        let key = (package.to_owned(), bundle.name.clone());
        let is_without_image = bundle.image.is_empty();
        self.bundles.insert(key, Written { listed, is_without_image, manifests, provides });
        Ok(())
    }

    fn meta(&mut self, meta: Meta) -> io::Result<()> {
        let span = self.writer.append(&record::struct_message(meta.value).encode_to_vec())?;
        self.metas.entry(meta.schema).or_default().entry(meta.package).or_default().push(span);
        Ok(())
    }
}

impl Builder {
    fn new(file: Option<File>) -> io::Result<Self> {
        Ok(Self {
            writer: Writer::new(file)?,
            packages: BTreeMap::new(),
            bundles: BTreeMap::new(),
            metas: BTreeMap::new(),
        })
    }

    fn finish(mut self, catalog: Catalog, sources: Option<SourceDigest>) -> io::Result<Index> {
        let provided = self.bundles.values().flat_map(|bundle| &bundle.provides);
        let apis: Vec<Gvk> = provided.cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let packages = catalog.packages.into_values();
        let packages = packages.map(|package| self.package_row(package, &apis)).collect();
        let metas = std::mem::take(&mut self.metas);
        let table = Table { sources, packages, apis, metas };
        let storage = self.writer.finish(&serde_json::to_vec(&table)?)?;
        Ok(Index::new(storage, table))
    }

    fn package_row(&mut self, package: Package, apis: &[Gvk]) -> PackageRow {
        let presentation = self.packages.remove(&package.name).unwrap_or_default();
        let bundles = package.bundles.into_values();
        let bundles: Vec<BundleRow> =
            bundles.map(|bundle| self.bundle_row(&package.name, bundle, apis)).collect();
        let channels = package.channels.into_values();
        let channels = channels.map(|channel| channel_row(channel, &bundles)).collect();
        PackageRow {
            name: package.name,
            default_channel: package.default_channel,
            deprecation: package.deprecation,
            presentation,
            bundles,
            channels,
        }
    }

    fn bundle_row(&mut self, package: &str, bundle: Bundle, apis: &[Gvk]) -> BundleRow {
        let key = (package.to_owned(), bundle.name);
        let written = self.bundles.remove(&key).unwrap_or_default();
        let places = written.provides.iter().filter_map(|api| apis.binary_search(api).ok());
        BundleRow {
            provides: places.collect(),
            listed: written.listed,
            is_without_image: written.is_without_image,
            manifests: written.manifests,
            deprecation: bundle.deprecation,
            name: key.1,
        }
    }
}

fn channel_row(channel: Channel, bundles: &[BundleRow]) -> ChannelRow {
    let entries = channel.entries.into_iter().filter_map(|(name, entry)| {
        let bundle = bundles.binary_search_by(|row| row.name.cmp(&name)).ok()?;
        Some(EntryRow {
            bundle,
            replaces: entry.replaces,
            skips: entry.skips,
            skip_range: entry.skip_range,
        })
    });
    ChannelRow {
        name: channel.name,
        head: channel.head,
        deprecation: channel.deprecation,
        entries: entries.collect(),
    }
}
