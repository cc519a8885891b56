//! From a bundle of the registry protocol to an entry (spec catalog-operator 3.2).

use std::sync::Arc;

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::version::{Range, Version};

use super::dependencies::{DependencyError, from_apis, from_dependencies, package_property};
use super::intern::Interner;
use crate::registry::proto;

/// The entry of a bundle. Whether its channel is the default one, and the messages of package
/// and channel, are not known yet: the package answers that.
///
/// # Errors
/// A dependency in the older form is malformed.
pub(super) fn entry(
    catalog: &CatalogKey,
    bundle: &proto::Bundle,
    interner: &mut Interner,
) -> Result<Entry, DependencyError> {
    let properties = properties(bundle, interner)?;
    Ok(Entry {
        name: interner.text(&bundle.csv_name),
        package: interner.text(&bundle.package_name),
        channel: interner.text(&bundle.channel_name),
        catalog: catalog.clone(),
        version: Version::parse_tolerant(&bundle.version).ok(),
        replaces: interner.non_empty(&bundle.replaces),
        skips: bundle.skips.iter().map(|name| interner.text(name)).collect(),
        skip_range: skip_range(&bundle.skip_range),
        in_default_channel: false,
        properties: interner.properties(properties),
        content: content(bundle, interner),
        deprecations: Deprecations {
            bundle: message(bundle.deprecation.as_ref(), interner),
            ..Deprecations::default()
        },
    })
}

/// The text of a deprecation.
pub(super) fn message(
    deprecation: Option<&proto::Deprecation>,
    interner: &mut Interner,
) -> Option<Arc<str>> {
    deprecation.map(|deprecation| interner.text(&deprecation.message))
}

/// Properties of the bundle, else its provided APIs; then what it needs; then `olm.package`.
fn properties(
    bundle: &proto::Bundle,
    interner: &mut Interner,
) -> Result<Vec<Property>, DependencyError> {
    let mut list = if bundle.properties.is_empty() {
        from_apis("olm.gvk", &bundle.provided_apis, interner)
    } else {
        bundle.properties.iter().map(|property| shared(property, interner)).collect()
    };
    list.extend(if bundle.dependencies.is_empty() {
        from_apis("olm.gvk.required", &bundle.required_apis, interner)
    } else {
        from_dependencies(&bundle.dependencies, interner)?
    });
    if !list.iter().any(|property| &*property.kind == "olm.package") {
        list.push(package_property(&bundle.package_name, &bundle.version, interner));
    }
    Ok(list)
}

fn shared(property: &proto::Property, interner: &mut Interner) -> Property {
    Property { kind: interner.text(&property.r#type), value: interner.text(&property.value) }
}

/// An unreadable range is treated as none, as in v0: the catalog's validation reports it.
fn skip_range(text: &str) -> Option<Range> {
    if text.is_empty() { None } else { Range::parse(text).ok() }
}

fn content(bundle: &proto::Bundle, interner: &mut Interner) -> BundleContent {
    match interner.non_empty(&bundle.bundle_path) {
        Some(image) => BundleContent::Image(image),
        None => BundleContent::Inline,
    }
}
