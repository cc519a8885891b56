//! Taking care of a ConfigMap that a user made: the label by which it is watched, and an owner, so
//! that its changes are noticed.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_core::ResourceExt;
use olm_effect::{Effect, Target};
use olm_types::api::CatalogSource;
use olm_types::{labels, owner};
use serde_json::{Map, json};

use super::observed::ConfigMapFound;
use super::registry::config_map_name;
use crate::writes::resource_of;

/// What comes before the cause when the write is refused.
pub(super) const FAILED: &str = "unable to write owner onto catalog source configmap - ";

/// The write that has the ConfigMap watched, if it is not.
pub(super) fn config_map(catalog: &CatalogSource, found: &ConfigMapFound) -> Option<Effect> {
    let metadata = found.metadata()?;
    let uid = catalog.metadata.uid.as_deref().unwrap_or_default();
    let mut patch = Map::new();
    if matches!(found, ConfigMapFound::Unwatched(_)) {
        patch.insert("labels".to_owned(), json!({labels::MANAGED: labels::UNMANAGED_VALUE}));
    }
    if !owner::is_owned_by_uid(metadata, uid) {
        let mut owners = metadata.owner_references.clone().unwrap_or_default();
        let (version, kind) = (CatalogSource::API_VERSION, CatalogSource::KIND);
        owners.push(owner::non_blocking_owner(version, kind, &catalog.name_any(), uid));
        patch.insert("ownerReferences".to_owned(), json!(owners));
    }
    if patch.is_empty() {
        return None;
    }
    patch.insert("resourceVersion".to_owned(), json!(metadata.resource_version));
    let namespace = catalog.namespace().unwrap_or_default();
    let target =
        Target::namespaced(resource_of::<ConfigMap>(), &namespace, config_map_name(catalog));
    Some(Effect::merge(target, json!({"metadata": patch}), None))
}
