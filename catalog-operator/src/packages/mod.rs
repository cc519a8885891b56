//! The packages API: what catalogs offer, for people (spec catalog-operator 7).
//!
//! `olm_catalog::packages` makes PackageManifests, `olm_kit::aggregated` serves objects; here both
//! are joined. Whenever a catalog was loaded, the CSVs at the heads of its channels are fetched and
//! packed ([`refresh`]); requests are answered from memory ([`cache`]). While nothing is known the
//! answer is empty, never an error, so that this API never blocks its clients.

mod cache;
mod maintenance;
mod refresh;

use olm_kit::aggregated::{Column, Kind};
use olm_types::api::{PackageManifest, package_manifest_schema};

pub use cache::PackageCache;
pub use maintenance::Maintenance;
pub use refresh::PackageReconciler;

/// Media types of pictures.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/svg+xml"];

/// Name of the subresource with the picture.
const ICON: &str = "icon";

/// The kind, its columns and its schema.
fn kind() -> Kind {
    Kind {
        group: "packages.operators.coreos.com",
        version: "v1",
        kind: PackageManifest::KIND,
        plural: "packagemanifests",
        singular: "packagemanifest",
        subresources: [(ICON, PICTURES)].into(),
        columns: vec![Column {
            name: "Catalog",
            description: "The source catalog for this package",
        }],
        schema: package_manifest_schema(),
    }
}
