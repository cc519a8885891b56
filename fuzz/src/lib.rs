//! What the targets share: bundles of a catalog to try input on.

use std::sync::Arc;

use olm_resolver::problem::{Bundle, BundleId};
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::version::Version;

/// The only bundle of a package, in channel `stable` of catalog `olm/cat`.
pub fn entry(package: &str, properties: impl Into<Arc<[Property]>>) -> Entry {
    Entry {
        name: format!("{package}.v1").as_str().into(),
        package: package.into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("olm", "cat"),
        version: Some(Version::new(1, 0, 0)),
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: properties.into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    }
}

/// A bundle with properties of several shapes, to test a requirement on.
pub fn bundle() -> Bundle {
    let properties = [
        Property::new("olm.package", r#"{"packageName":"b","version":"1.0.1"}"#),
        Property::new("olm.gvk", r#"{"group":"g","version":"v","kind":"k"}"#),
        Property::new("list", r#"[1,2.5,"x",null,{"a":true}]"#),
    ];
    Bundle::new(BundleId(0), Arc::new(entry("b", properties)))
}
