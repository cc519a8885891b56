//! Parts that the written objects have in common.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use olm_effect::{Action, Effect, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::{labels, owner};
use serde_json::{Value, json};

/// Field manager of what is applied; v0's name.
const FIELD_MANAGER: &str = "olm.install";

/// Applies an object, taking over fields that others hold.
pub(super) fn apply(target: Target, mut object: Value) -> Effect {
    object["apiVersion"] = json!(target.resource.api_version());
    object["kind"] = json!(target.resource.kind);
    let manager = FIELD_MANAGER.to_owned();
    Effect::new(target, Action::Apply { object, manager, force: true })
}

/// The labels of everything that OLM makes.
pub(super) fn managed() -> Value {
    json!({labels::MANAGED: labels::MANAGED_VALUE})
}

/// The reference by which an object goes with the CSV.
pub(super) fn owner_reference(csv: &ClusterServiceVersion) -> OwnerReference {
    owner::non_blocking_owner(
        ClusterServiceVersion::API_VERSION,
        ClusterServiceVersion::KIND,
        csv.metadata.name.as_deref().unwrap_or_default(),
        csv.metadata.uid.as_deref().unwrap_or_default(),
    )
}

/// The owners of an object that exists: the CSV is added where a CSV is among them. What a user
/// else made stays theirs.
pub(super) fn owners(csv: &ClusterServiceVersion, present: &ObjectMeta) -> Value {
    let references = present.owner_references.as_deref().unwrap_or_default();
    if !owner::is_adoptable(ClusterServiceVersion::KIND, references) {
        return json!(references);
    }
    let mut metadata = present.clone();
    owner::ensure_owner(&mut metadata, owner_reference(csv));
    json!(metadata.owner_references)
}
