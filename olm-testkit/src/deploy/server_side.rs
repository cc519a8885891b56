//! One object, applied as `kubectl apply --server-side --force-conflicts` does.

use std::time::Duration;

use anyhow::{Context, Result};
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiCapabilities, ApiResource, Scope, pinned_kind};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};

use super::kind;

/// Who the API server says has applied these objects.
const MANAGER: &str = "olm-rs-xtask";

/// How long a kind that was defined a moment ago may take to be served.
const DISCOVERY: Duration = Duration::from_secs(20);

/// Applies one object.
///
/// # Errors
///
/// When its kind is not served within some seconds, or the API server refuses it.
pub async fn apply_object(client: &Client, object: &DynamicObject) -> Result<DynamicObject> {
    let api = api_of(client, object).await?;
    let params = PatchParams::apply(MANAGER).force();
    let applied = api.patch(&object.name_any(), &params, &Patch::Apply(object)).await;
    applied
        .with_context(|| format!("the API server refuses {} {}", kind(object), object.name_any()))
}

/// The objects of the same kind and namespace.
pub(crate) async fn api_of(client: &Client, object: &DynamicObject) -> Result<Api<DynamicObject>> {
    let kind = object.types.as_ref().context("an object without apiVersion and kind")?;
    let gvk = GroupVersionKind::try_from(kind).context("a malformed apiVersion")?;
    let (resource, capabilities) = discover(client, &gvk).await?;
    Ok(match (capabilities.scope, object.namespace()) {
        (Scope::Namespaced, Some(namespace)) => {
            Api::namespaced_with(client.clone(), &namespace, &resource)
        }
        (Scope::Namespaced, None) => Api::default_namespaced_with(client.clone(), &resource),
        (Scope::Cluster, _) => Api::all_with(client.clone(), &resource),
    })
}

/// Discovery lags a moment behind a new kind.
async fn discover(
    client: &Client,
    gvk: &GroupVersionKind,
) -> Result<(ApiResource, ApiCapabilities)> {
    let deadline = Instant::now() + DISCOVERY;
    loop {
        match pinned_kind(client, gvk).await {
            Ok(found) => return Ok(found),
            Err(error) if Instant::now() > deadline => {
                return Err(error).with_context(|| format!("kind {} is not served", gvk.kind));
            }
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
