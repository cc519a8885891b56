//! Reads straight from the API server, where a store is not enough.

use kube::api::ListParams;
use kube::core::DynamicObject;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use olm_effect::{Refusal, Resource, Target};
use serde_json::Value;

use crate::interpreter::refusal_of;
use crate::path::{collection, segment};

/// The object as it is now, if there is one.
///
/// # Errors
/// The API server refuses or cannot be asked, or the target has no name that an object may have.
pub async fn read(client: &Client, target: &Target) -> Result<Option<Value>, Refusal> {
    collection(&target.resource, target.namespace.as_deref())?;
    segment("name", &target.name)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Script;

    /// Names of objects to read come from manifests and statuses, too.
    #[rstest::rstest]
    #[case::another_object("ns", "../../olm/secrets/key")]
    #[case::all_objects("ns", "")]
    #[case::parameters("ns", "?watch=true")]
    #[case::another_namespace("ns/secrets/x?", "a")]
    #[tokio::test]
    async fn no_name_leads_a_read_elsewhere(#[case] namespace: &str, #[case] name: &str) {
        let server = Script::new();
        let target = Target::namespaced(Resource::new("", "v1", "A", "as"), namespace, name);
        let refusal = read(&server.client(), &target).await.unwrap_err();
        assert_eq!(refusal.code, 422, "{refusal}");
        server.finish();
    }
}
