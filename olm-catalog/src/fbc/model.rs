//! A whole catalog: packages with their channels and bundles.
//!
//! A [`Catalog`] holds what validation needs and nothing more, so that memory does not grow with
//! the content of bundles. That content is handed on while the catalog is read, see [`Contents`].

use std::collections::BTreeMap;
use std::io;

use super::blob::{ChannelEntry, Meta, Origin, PackageBlob, RelatedImage};
use super::properties::TypedProperties;

/// The structure of a catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Packages by name.
    pub packages: BTreeMap<String, Package>,
}

/// A package.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Channel of subscriptions that name none.
    pub default_channel: String,
    /// Channels by name.
    pub channels: BTreeMap<String, Channel>,
    /// Bundles by name; each is in at least one channel.
    pub bundles: BTreeMap<String, Bundle>,
    /// Message, when the package is deprecated.
    pub deprecation: Option<String>,
    /// Where its blob is.
    pub origin: Origin,
}

/// A channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Name.
    pub name: String,
    /// Entries by bundle name.
    pub entries: BTreeMap<String, ChannelEntry>,
    /// The entry that none replaces or skips.
    pub head: String,
    /// Message, when the channel is deprecated.
    pub deprecation: Option<String>,
    /// Where its blob is.
    pub origin: Origin,
}

/// A bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Name.
    pub name: String,
    /// Bundle image; may be empty when there are manifests.
    pub image: String,
    /// Version as the catalog spells it.
    pub version: String,
    /// Release within the version; usually empty.
    pub release: String,
    /// How many manifests the catalog holds.
    pub manifests: usize,
    /// Message, when the bundle is deprecated.
    pub deprecation: Option<String>,
    /// Where its blob is.
    pub origin: Origin,
}

/// What a bundle consists of besides its place in the structure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleContent {
    /// Typed metadata.
    pub properties: TypedProperties,
    /// Manifests as JSON texts, in catalog order.
    pub objects: Vec<String>,
    /// The first CSV among them.
    pub csv: Option<String>,
    /// Images that the operator uses.
    pub related_images: Vec<RelatedImage>,
}

/// Receives the content of blobs, one at a time, while a catalog is read.
pub trait Contents {
    /// Takes what a package consists of.
    ///
    /// # Errors
    /// It cannot be kept.
    fn package(&mut self, package: PackageBlob) -> io::Result<()>;

    /// Takes what a bundle of `package` consists of. A bundle that turns out to be invalid, or to
    /// be there twice, may have been handed over.
    ///
    /// # Errors
    /// It cannot be kept.
    fn bundle(&mut self, package: &str, bundle: &Bundle, content: BundleContent) -> io::Result<()>;

    /// Takes a blob of a schema that has no meaning here.
    ///
    /// # Errors
    /// It cannot be kept.
    fn meta(&mut self, meta: Meta) -> io::Result<()>;
}

/// Forgets everything: for validation alone.
impl Contents for () {
    fn package(&mut self, _: PackageBlob) -> io::Result<()> {
        Ok(())
    }

    fn bundle(&mut self, _: &str, _: &Bundle, _: BundleContent) -> io::Result<()> {
        Ok(())
    }

    fn meta(&mut self, _: Meta) -> io::Result<()> {
        Ok(())
    }
}

impl Package {
    /// Names of bundles by version and release.
    pub(super) fn versions(&self) -> BTreeMap<String, Vec<&str>> {
        let mut versions: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for bundle in self.bundles.values().filter(|bundle| !bundle.version.is_empty()) {
            versions.entry(bundle.full_version()).or_default().push(&bundle.name);
        }
        versions
    }
}

impl Bundle {
    /// Version and release in one text.
    pub(crate) fn full_version(&self) -> String {
        if self.release.is_empty() {
            self.version.clone()
        } else {
            format!("{}-{}", self.version, self.release)
        }
    }
}
