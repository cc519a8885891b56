//! The ConfigMap of a bundle, read from the API server.
//!
//! ConfigMaps of bundles are large and rarely read, so they are not kept in memory.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use olm_catalog::bundle::config_map;
use olm_effect::{Effect, Outcome};
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::unpack::{BundleReference, UnpackedBundle, objects};
use olm_lifecycle::writes::target_of;
use olm_types::api::CatalogSource;
use olm_types::hash::unpack_name;

use kube::ResourceExt;

/// The bundle that a step of an InstallPlan refers to.
///
/// # Errors
/// There is no such bundle; the text is v0's.
pub async fn stored(
    client: &Client,
    reference: &BundleReference,
) -> Result<UnpackedBundle, String> {
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), &reference.namespace);
    let found = config_maps.get(&reference.name).await;
    let found = found.map_err(|error| {
        format!("error finding unpacked bundle configmap for ref {reference}: {error}")
    })?;
    read(&found).map_err(|error| {
        format!("error loading unpacked bundle configmap for ref {reference}: {error}")
    })
}

/// The bundle in a ConfigMap, without objects when there is none.
pub(super) fn read(found: &ConfigMap) -> Result<UnpackedBundle, config_map::ReadError> {
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

/// The ConfigMap for a bundle of the catalog: the one there is, else an empty one that is made.
pub(super) async fn ensure(
    client: &Client,
    interpreter: &Interpreter,
    catalog: &CatalogSource,
    image: &str,
) -> Result<ConfigMap, ReconcileError> {
    let wanted = objects::config_map(catalog, &unpack_name(image));
    let config_maps: Api<ConfigMap> =
        Api::namespaced(client.clone(), &wanted.namespace().unwrap_or_default());
    if let Some(found) = config_maps.get_opt(&wanted.name_any()).await? {
        let claim: Vec<_> = objects::claim(&found).into_iter().collect();
        ReconcileError::from_outcomes(&interpreter.execute(&claim).await)?;
        return Ok(found);
    }
    let manifest = serde_json::to_value(&wanted).map_err(ReconcileError::other)?;
    let create = Effect::create(target_of(&wanted), manifest);
    match interpreter.execute(&[create]).await.pop() {
        Some(Outcome::Created(live)) => serde_json::from_value(live).map_err(ReconcileError::other),
        Some(Outcome::Refused(refusal)) => Err(refusal.into()),
        other => Err(ReconcileError::message(format!(
            "ConfigMap {} was made by somebody else just now ({other:?})",
            wanted.name_any()
        ))),
    }
}
