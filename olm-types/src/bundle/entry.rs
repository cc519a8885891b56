//! One place of a bundle in a catalog: (package, channel, bundle).

use std::fmt;
use std::sync::Arc;

use crate::document::{Budget, json_as};
use crate::gvk::Gvk;
use crate::version::{Range, Version};

/// Namespace and name of a CatalogSource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CatalogKey {
    /// Namespace of the CatalogSource.
    pub namespace: Arc<str>,
    /// Name of the CatalogSource.
    pub name: Arc<str>,
}

impl CatalogKey {
    /// A key from its two parts.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for CatalogKey {
    /// `namespace/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A typed piece of metadata: `type` and the compact JSON text of `value`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Property {
    /// Type, for example `olm.gvk`.
    pub kind: Arc<str>,
    /// JSON text of the value, as the catalog holds it.
    pub value: Arc<str>,
}

impl Property {
    /// A property from its two parts.
    pub fn new(kind: &str, value: &str) -> Self {
        Self { kind: kind.into(), value: value.into() }
    }
}

/// Messages of `olm.deprecations` that concern an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecations {
    /// The package is deprecated.
    pub package: Option<Arc<str>>,
    /// The channel is deprecated.
    pub channel: Option<Arc<str>>,
    /// The bundle is deprecated.
    pub bundle: Option<Arc<str>>,
}

/// Where the manifests of a bundle are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleContent {
    /// An image that has to be unpacked (`bundlePath`).
    Image(Arc<str>),
    /// Inside the catalog; the registry gives them on request (GetBundle).
    Inline,
}

/// One place of a bundle in a channel of a package of a catalog (spec catalog-operator 3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name of the bundle: the name of its CSV.
    pub name: Arc<str>,
    /// Package that the entry belongs to.
    pub package: Arc<str>,
    /// Channel that the entry belongs to.
    pub channel: Arc<str>,
    /// Catalog that the entry comes from.
    pub catalog: CatalogKey,
    /// Version of the bundle (tolerantly parsed), if it has one.
    pub version: Option<Version>,
    /// Name of the entry that this one replaces.
    pub replaces: Option<Arc<str>>,
    /// Names of entries that this one skips.
    pub skips: Vec<Arc<str>>,
    /// Versions that may be upgraded to this entry directly. Unparsable ranges are left out.
    pub skip_range: Option<Range>,
    /// Whether the channel is the default channel of its package.
    pub in_default_channel: bool,
    /// Properties in catalog order, dependencies in property form included.
    pub properties: Arc<[Property]>,
    /// Where the manifests are.
    pub content: BundleContent,
    /// Deprecation messages.
    pub deprecations: Deprecations,
}

impl Entry {
    /// A bundle that is alone in a channel, which is not the default one of its package: without a version and
    /// properties, with its manifests in the catalog.
    pub fn new(catalog: CatalogKey, package: &str, channel: &str, name: &str) -> Self {
        Self {
            name: name.into(),
            package: package.into(),
            channel: channel.into(),
            catalog,
            version: None,
            replaces: None,
            skips: Vec::new(),
            skip_range: None,
            in_default_channel: false,
            properties: Vec::new().into(),
            content: BundleContent::Inline,
            deprecations: Deprecations::default(),
        }
    }

    /// The APIs that the bundle provides: its well-formed `olm.gvk` properties, in order.
    pub fn provided_apis(&self) -> impl Iterator<Item = Gvk> + '_ {
        self.properties
            .iter()
            .filter(|property| &*property.kind == "olm.gvk")
            .filter_map(|property| json_as(&*property.value, &Budget::PROPERTY).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_properties_provide_nothing() {
        let properties = [
            Property::new("olm.gvk", r#"{"group":"g","kind":"B","version":"v1"}"#),
            Property::new("olm.gvk", "5"),
            Property::new("olm.gvk.required", r#"{"group":"g","kind":"C","version":"v1"}"#),
            Property::new("olm.gvk", r#"{"group":"g","kind":"A","version":"v1"}"#),
        ];
        let catalog = CatalogKey::new("ns", "c");
        let entry =
            Entry { properties: properties.into(), ..Entry::new(catalog, "b", "stable", "b.v1") };
        let apis: Vec<_> = entry.provided_apis().map(|api| api.to_string()).collect();
        assert_eq!(apis, ["B.v1.g", "A.v1.g"]);
        assert_eq!(entry.catalog.to_string(), "ns/c");
    }
}
