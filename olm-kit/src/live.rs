//! Reads straight from the API server, where a store is not enough.

use kube::api::ListParams;
use kube::core::DynamicObject;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use olm_effect::{Refusal, Resource, Target};
use serde_json::Value;

use crate::interpreter::refusal_of;

/// The object as it is now, if there is one.
///
/// # Errors
/// The API server refuses or cannot be asked.
pub async fn read(client: &Client, target: &Target) -> Result<Option<Value>, Refusal> {
    let resource = api_resource(&target.resource);
    let api: Api<DynamicObject> = match &target.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let found = api.get_opt(&target.name).await.map_err(|error| refusal_of(&error))?;
    let value =
        found.map(|object| serde_json::to_value(object).map_err(unprintable)).transpose()?;
    Ok(value)
}

/// Objects in a page: few enough that large ones fit into little memory.
const PAGE: u32 = 250;

/// One page of all objects of a kind, in all namespaces, after the page that gave `token`; and the
/// token of the next page.
///
/// # Errors
/// The API server refuses or cannot be asked. Code 410 means that it forgot the token.
pub async fn page(
    client: &Client,
    resource: &Resource,
    token: Option<String>,
) -> Result<(Vec<Value>, Option<String>), Refusal> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &api_resource(resource));
    let params = ListParams { limit: Some(PAGE), continue_token: token, ..ListParams::default() };
    let list = api.list(&params).await.map_err(|error| refusal_of(&error))?;
    let items = list.items.into_iter();
    let items = items.map(|object| serde_json::to_value(object).map_err(unprintable));
    Ok((items.collect::<Result<_, _>>()?, list.metadata.continue_))
}

fn api_resource(resource: &Resource) -> ApiResource {
    ApiResource {
        group: resource.group.clone(),
        version: resource.version.clone(),
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        plural: resource.plural.clone(),
    }
}

fn unprintable(error: serde_json::Error) -> Refusal {
    Refusal { code: 0, reason: String::new(), message: error.to_string() }
}
