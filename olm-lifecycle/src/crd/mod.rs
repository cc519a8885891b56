//! Upgrade of CustomResourceDefinitions (spec catalog-operator 4.5).
//!
//! ```text
//! versions         which versions existing objects have to be valid in
//! schema           whether an object is valid
//! removal          whether a served version may go
//! stored_versions  whether a version in which objects may be stored may go
//! alongside        which CSVs the definition was installed alongside
//! conversion       who converts until the new version is installed
//! unchanged        what is left to do when the definition is as desired
//! upgrade          all of it in order, fed page by page
//! ```

mod alongside;
mod conversion;
mod error;
mod removal;
mod schema;
mod stored_versions;
mod unchanged;
mod upgrade;
mod versions;

use olm_types::conditions::kubernetes::{ESTABLISHED, NAMES_ACCEPTED};
use olm_types::gvk::Gvk;
use serde_json::Value;

pub(crate) use alongside::recorded;
pub(crate) use conversion::without_placeholder;
pub use error::CrdError;
pub use removal::{CrdOwner, owners};
pub use upgrade::{Owners, Upgrade, UpgradeRequest};

/// API group of definitions.
pub const GROUP: &str = "apiextensions.k8s.io";

/// The version of the API that the manifest of a definition is for: `v1`, or `v1beta1`, which
/// Kubernetes serves no more since 1.22. The group is not compared, as in v0: a manifest whose
/// `apiVersion` is the version alone counts as well.
///
/// # Errors
/// It is for another one.
pub fn api_version(manifest: &Value) -> Result<&'static str, CrdError> {
    match Gvk::from_api_version(text(manifest, "/apiVersion"), "").version.as_str() {
        "v1" => Ok("v1"),
        "v1beta1" => Ok("v1beta1"),
        other => Err(CrdError::UnsupportedVersion(other.to_owned())),
    }
}

/// Whether the API that the definition announces is served: Established and NamesAccepted.
pub fn is_served(live: &Value) -> bool {
    let holds = |kind: &str| {
        list(live, "/status/conditions").any(|condition| {
            text(condition, "/type") == kind && text(condition, "/status") == "True"
        })
    };
    holds(ESTABLISHED) && holds(NAMES_ACCEPTED)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests;
