//! A whole catalog: packages with their channels and bundles.

use std::collections::BTreeMap;

use super::blob::{ChannelEntry, Icon, Meta, Origin, RelatedImage};
use super::properties::TypedProperties;

/// The content of a catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Packages by name.
    pub packages: BTreeMap<String, Package>,
    /// Blobs of schemas that have no meaning here.
    pub metas: Vec<Meta>,
}

/// A package.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Channel of subscriptions that name none.
    pub default_channel: String,
    /// Text for people.
    pub description: String,
    /// Icon for user interfaces.
    pub icon: Option<Icon>,
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
    /// Typed metadata.
    pub properties: TypedProperties,
    /// Manifests in the catalog.
    pub content: Content,
    /// Images that the operator uses.
    pub related_images: Vec<RelatedImage>,
    /// Message, when the bundle is deprecated.
    pub deprecation: Option<String>,
    /// Where its blob is.
    pub origin: Origin,
}

/// Manifests of a bundle as far as they are in the catalog (JSON texts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// All of them, in catalog order.
    pub objects: Vec<String>,
    /// The first CSV among them.
    pub csv: Option<String>,
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
    pub fn full_version(&self) -> String {
        if self.release.is_empty() {
            self.version.clone()
        } else {
            format!("{}-{}", self.version, self.release)
        }
    }
}
