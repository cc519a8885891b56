//! Blobs: the objects that files of a catalog hold, each with a `schema`.
//!
//! Reading a blob checks types of fields and nothing else; whether the blobs fit together is
//! validation's question.

mod reading;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

/// Where a blob was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// File, relative to the root of the catalog.
    pub file: Arc<Path>,
    /// Number of the document in the file, from 1.
    pub document: usize,
}

/// Something with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// Where it was found.
    pub origin: Origin,
    /// What was found.
    pub item: T,
}

/// One object of a catalog.
#[derive(Clone, Debug, PartialEq)]
pub enum Blob {
    /// `olm.package`.
    Package(PackageBlob),
    /// `olm.channel`.
    Channel(ChannelBlob),
    /// `olm.bundle`.
    Bundle(BundleBlob),
    /// `olm.deprecations`.
    Deprecations(DeprecationsBlob),
    /// Any other schema; kept as it is.
    Other(Meta),
}

/// `olm.package`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageBlob {
    /// Name.
    pub name: String,
    /// Channel of subscriptions that name none.
    pub default_channel: String,
    /// Icon for user interfaces.
    pub icon: Option<Icon>,
    /// Text for people.
    pub description: String,
}

/// An icon; the picture itself is not looked into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Icon {
    /// Base64 text.
    pub base64data: String,
    /// Media type, for example `image/svg+xml`.
    pub mediatype: String,
}

/// `olm.channel`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelBlob {
    /// Package it belongs to.
    pub package: String,
    /// Name.
    pub name: String,
    /// Bundles of the channel, as edges of its upgrade graph.
    pub entries: Vec<ChannelEntry>,
}

/// A bundle in a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelEntry {
    /// Name of the bundle.
    pub name: String,
    /// Bundle that it replaces; may be empty or not in the channel.
    pub replaces: String,
    /// Bundles that it skips.
    pub skips: Vec<String>,
    /// Versions that may be upgraded to it directly; may be empty.
    pub skip_range: String,
}

/// `olm.bundle`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleBlob {
    /// Package it belongs to.
    pub package: String,
    /// Name.
    pub name: String,
    /// Bundle image; may be empty when the manifests are among the properties.
    pub image: String,
    /// Typed metadata.
    pub properties: Vec<RawProperty>,
    /// Images that the operator uses.
    pub related_images: Vec<RelatedImage>,
}

/// A property as the catalog holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawProperty {
    /// Type, for example `olm.gvk`.
    pub kind: String,
    /// Any JSON value.
    pub value: Value,
}

/// An image that an operator uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelatedImage {
    /// What it is for; may be empty.
    pub name: String,
    /// Image reference.
    pub image: String,
}

/// `olm.deprecations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeprecationsBlob {
    /// Package that it is about.
    pub package: String,
    /// What is deprecated.
    pub items: Vec<DeprecatedItem>,
}

/// Something deprecated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeprecatedItem {
    /// `olm.package`, `olm.channel` or `olm.bundle`.
    pub schema: String,
    /// Name of the channel or bundle; empty for a package.
    pub name: String,
    /// Text for people.
    pub message: String,
}

/// A blob of a schema that has no meaning here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Its schema.
    pub schema: String,
    /// Package that it belongs to; may be empty.
    pub package: String,
    /// Name; may be empty.
    pub name: String,
    /// The whole object.
    pub value: Value,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file.display(), self.document)
    }
}
