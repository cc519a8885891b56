//! The schema of PackageManifests, which are served and not stored.

use serde_json::{Value, json};

use super::structural::schema_of;
use crate::api::PackageManifestStatus;

/// The OpenAPI schema of a PackageManifest, without references.
#[must_use]
pub fn package_manifest_schema() -> Value {
    json!({
        "type": "object",
        "description": "A package of a catalog: what it offers, in which channels. \
                        Computed from the catalog and never stored.",
        "properties": {
            "apiVersion": {"type": "string", "description": "Version of this representation."},
            "kind": {"type": "string", "description": "Kind of the object."},
            "metadata": {"type": "object", "description": "Standard object metadata."},
            "spec": {"type": "object", "description": "Empty: packages are not configured."},
            "status": schema_of::<PackageManifestStatus>(),
        },
    })
}
