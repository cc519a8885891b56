//! How PackageManifests are described to clients.

use olm_kit::aggregated::{Column, Kind};
use olm_types::api::{PackageManifest, package_manifest_schema};

/// Media types of pictures.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/svg+xml"];

/// Name of the subresource with the picture.
pub(super) const ICON: &str = "icon";

/// The kind, its columns and its schema.
pub(super) fn kind() -> Kind {
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
