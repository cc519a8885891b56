//! Reads straight from the API server, where a store is not enough.

use kube::core::DynamicObject;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use olm_effect::{Refusal, Target};
use olm_kit::interpreter::refusal_of;
use serde_json::Value;

/// The object as it is now, if there is one.
///
/// # Errors
/// The API server refuses or cannot be asked.
pub async fn read(client: &Client, target: &Target) -> Result<Option<Value>, Refusal> {
    let resource = ApiResource {
        group: target.resource.group.clone(),
        version: target.resource.version.clone(),
        api_version: target.resource.api_version(),
        kind: target.resource.kind.clone(),
        plural: target.resource.plural.clone(),
    };
    let api: Api<DynamicObject> = match &target.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let found = api.get_opt(&target.name).await.map_err(|error| refusal_of(&error))?;
    let value =
        found.map(|object| serde_json::to_value(object).map_err(unprintable)).transpose()?;
    Ok(value)
}

fn unprintable(error: serde_json::Error) -> Refusal {
    Refusal { code: 0, reason: String::new(), message: error.to_string() }
}
