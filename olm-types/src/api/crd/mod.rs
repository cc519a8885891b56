//! The CustomResourceDefinitions, generated from the types of [`api`](crate::api).
//!
//! Three steps per version of a kind: the derived JSON schema of spec and status is rewritten as a
//! structural schema (`structural`), while each type gets the constraints that a Rust type cannot
//! express (`constraint`, `table`, `core_types`); then names, printer columns and versions go
//! around it (`definition`, `kinds`). The result depends on nothing but the source: same build, same bytes.
//!
//! Fields are required when the type writes them always. Embedded object metadata accepts every
//! field, and nothing is `nullable`.

mod constraint;
mod core_types;
mod definition;
mod kinds;
mod older;
mod structural;
mod table;
#[cfg(test)]
mod tests;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use structural::schema_of;

use crate::api::PackageManifestStatus;

/// The definitions of all kinds of [`GROUP`](crate::api::GROUP), ordered by name.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        kinds::catalog_source(),
        kinds::cluster_service_version(),
        kinds::install_plan(),
        kinds::olm_config(),
        kinds::operator_condition(),
        kinds::operator_group(),
        kinds::operator(),
        kinds::subscription(),
    ]
}

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
