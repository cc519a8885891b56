//! A bundle within one resolution: its entry with the properties decoded once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use olm_types::bundle::{CatalogKey, Entry};
use olm_types::gvk::Gvk;
use olm_types::version::Version;

use super::Claims;
use crate::constraint::cel::PropertyValues;
use crate::installed::VIRTUAL_CATALOG;

/// Position of a bundle in the order in which the resolution came across it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundleId(pub u32);

impl BundleId {
    /// Position in a list with one element per bundle.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A bundle with what it claims to be.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its number in this resolution.
    pub id: BundleId,
    /// The entry as its catalog holds it.
    pub entry: Arc<Entry>,
    /// Its `olm.package` properties: name, and version if it is one.
    pub packages: Arc<[(String, Option<Version>)]>,
    /// Its `olm.gvk` properties.
    pub apis: Arc<[Gvk]>,
    /// Its `olm.label` properties.
    pub labels: Arc<[String]>,
    cel_values: Arc<OnceLock<PropertyValues>>,
}

impl Bundle {
    /// Decodes the properties of an entry. Malformed ones claim nothing.
    pub fn new(id: BundleId, entry: Arc<Entry>) -> Self {
        let claims = Claims::of(&entry.properties);
        Self::claiming(id, entry, claims)
    }

    /// The bundle of an entry whose properties were decoded before.
    pub(crate) fn claiming(id: BundleId, entry: Arc<Entry>, claims: Claims) -> Self {
        let Claims { packages, apis, labels } = claims;
        Self { id, entry, packages, apis, labels, cel_values: Arc::default() }
    }

    /// The bundle of an entry with the same properties as another one, which were decoded there.
    pub(crate) fn twin(id: BundleId, entry: Arc<Entry>, other: &Self) -> Self {
        Self { id, entry, ..other.clone() }
    }

    /// Whether every requirement that the one fits is one that the other fits.
    pub(crate) fn is_identical_to(&self, other: &Self) -> bool {
        let (one, other) = (&self.entry, &other.entry);
        one.version == other.version && one.properties == other.properties
    }

    /// Whether the bundle is a CSV of the namespace rather than an entry of a catalog.
    pub fn is_installed(&self) -> bool {
        &*self.entry.catalog.name == VIRTUAL_CATALOG
    }

    /// Whether the bundle is of the package, by its properties or by its place.
    pub fn is_of_package(&self, package: &str) -> bool {
        *self.entry.package == *package || self.packages.iter().any(|(name, _)| name == package)
    }

    /// Its properties as CEL values, converted when first needed.
    pub(crate) fn cel_values(&self) -> &PropertyValues {
        self.cel_values.get_or_init(|| PropertyValues::new(&self.entry.properties))
    }
}

/// A bundle by its names, for people and other programs. Ordered as explanations list bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleRef {
    /// Name of the bundle: the name of its CSV.
    pub name: Arc<str>,
    /// Its package; empty if unknown.
    pub package: Arc<str>,
    /// Its channel; empty for an installed CSV.
    pub channel: Arc<str>,
    /// Its catalog; `@existing` for an installed CSV.
    pub catalog: CatalogKey,
    /// Its version.
    pub version: Option<Version>,
}

impl BundleRef {
    /// Whether it is a CSV of the namespace.
    pub fn is_installed(&self) -> bool {
        &*self.catalog.name == VIRTUAL_CATALOG
    }
}

impl From<&Entry> for BundleRef {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            package: entry.package.clone(),
            channel: entry.channel.clone(),
            catalog: entry.catalog.clone(),
            version: entry.version.clone(),
        }
    }
}

impl fmt::Display for BundleRef {
    /// v0's identifier: `catalog/namespace/channel/csv`; `@existing/namespace//csv` for an installed CSV.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.catalog.name, self.catalog.namespace, self.channel, self.name)
    }
}
