//! Patches of the CSV itself.

use olm_effect::{Action, Effect, Subresource};
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use crate::writes::target_of;

/// A merge patch of a CSV's metadata, valid only for the state that was observed. Patches keep
/// whatever else the object holds, known to this build or not.
pub(super) fn patch_metadata(csv: &ClusterServiceVersion, mut metadata: Value) -> Effect {
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("resourceVersion".to_owned(), json!(csv.metadata.resource_version));
    }
    let action = Action::MergePatch {
        patch: json!({"metadata": metadata}),
        observed: None,
        subresource: Subresource::Main,
    };
    Effect::new(target_of(csv), action)
}
