//! The ConfigMap of a bundle, read from the API server.
//!
//! ConfigMaps of bundles are large and rarely read, so they are not kept in memory.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};
use olm_catalog::bundle::config_map;
use olm_kit::tasks::in_place;
use olm_lifecycle::unpack::{BundleReference, UnpackedBundle};

/// Who asks for a bundle.
pub struct Reader<'a> {
    /// Namespace of the InstallPlan.
    pub plan_namespace: &'a str,
    /// Namespace of global catalogs.
    pub global_namespace: &'a str,
}

/// The bundle that a step of an InstallPlan refers to.
///
/// # Errors
/// There is no such bundle; the text is v0's. Or the step has no business with the ConfigMap.
pub async fn stored(
    client: &Client,
    reference: &BundleReference,
    reader: &Reader<'_>,
) -> Result<UnpackedBundle, String> {
    reference
        .check_place(reader.plan_namespace, reader.global_namespace)
        .map_err(|error| error.to_string())?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), &reference.namespace);
    let found = config_maps.get(&reference.name).await;
    let found = found.map_err(|error| {
        format!("error finding unpacked bundle configmap for ref {reference}: {error}")
    })?;
    reference.check_origin(&found.metadata).map_err(|error| error.to_string())?;
    read(&found).map_err(|error| {
        format!("error loading unpacked bundle configmap for ref {reference}: {error}")
    })
}

/// The bundle in a ConfigMap, without objects when there is none.
pub(super) fn read(found: &ConfigMap) -> Result<UnpackedBundle, config_map::ReadError> {
    in_place::read(config_map::bytes(found), || read_now(found))
}

fn read_now(found: &ConfigMap) -> Result<UnpackedBundle, config_map::ReadError> {
    let bundle = config_map::read(found)?;
    for skipped in &bundle.skipped {
        let (name, namespace) = (found.name_any(), found.namespace());
        let (key, reason) = (&skipped.key, &skipped.reason);
        tracing::debug!(namespace, name, key, reason, "no object of the bundle");
    }
    Ok(UnpackedBundle {
        csv_name: bundle.csv_name,
        csv_json: bundle.csv_json,
        objects: bundle.objects.iter().map(|object| object.value.to_string()).collect(),
    })
}
