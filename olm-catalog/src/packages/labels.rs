//! Labels of a package.

use std::collections::BTreeMap;

use super::Head;
use super::convert::CatalogFacts;

const SUPPORTED: &str = "supported";

/// Prefix of labels about operating systems, and what is assumed without one.
const OS: (&str, &str) = ("operatorframework.io/os", "operatorframework.io/os.linux");

/// The same about architectures.
const ARCH: (&str, &str) = ("operatorframework.io/arch", "operatorframework.io/arch.amd64");

/// The catalog's own labels, then where the package comes from, then what its default CSV says.
pub(super) fn labels(catalog: &CatalogFacts, default: &Head) -> BTreeMap<String, String> {
    let mut labels = catalog.labels.clone();
    let provider = default.description.provider.clone().unwrap_or_default();
    let own = [
        ("catalog", catalog.key.name.to_string()),
        ("catalog-namespace", catalog.key.namespace.to_string()),
        ("provider", provider.name.unwrap_or_default()),
        ("provider-url", provider.url.unwrap_or_default()),
    ];
    labels.extend(own.map(|(key, value)| (key.to_owned(), value)));
    labels.extend(default.labels.clone());
    for (prefix, assumed) in [OS, ARCH] {
        if !labels.keys().any(|key| key.starts_with(prefix)) {
            labels.insert(assumed.to_owned(), SUPPORTED.to_owned());
        }
    }
    labels
}
