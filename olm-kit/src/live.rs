//! Reads straight from the API server, where a store is not enough.

use kube::api::ListParams;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use olm_effect::{Refusal, Resource, Target};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::interpreter::refusal_of;
pub use crate::page::Pages;
use crate::path::{collection, segment};
use crate::received::Received;

/// The object as it is now, if there is one.
///
/// # Errors
/// The API server refuses or cannot be asked, or the target has no name that an object may have.
pub async fn read(client: &Client, target: &Target) -> Result<Option<Value>, Refusal> {
    collection(&target.resource, target.namespace.as_deref())?;
    segment("name", &target.name)?;
    let api = api(client, target.namespace.as_deref(), &api_resource(&target.resource));
    let found = api.get_opt(&target.name).await.map_err(|error| refusal_of(&error))?;
    let read = found.map(|received| received.unbounded()).transpose();
    read.map_err(|error| refusal_of(&kube::Error::SerdeError(error)))
}

/// The object of this kind and name, if there is one; `namespace` is `None` for kinds of the whole
/// cluster.
///
/// # Errors
/// The API server refuses, cannot be asked, or answers with something else.
pub async fn get<K>(
    client: &Client,
    namespace: Option<&str>,
    name: &str,
) -> Result<Option<K>, kube::Error>
where
    K: kube::Resource<DynamicType = ()> + DeserializeOwned,
{
    let found = api(client, namespace, &ApiResource::erase::<K>(&())).get_opt(name).await?;
    found.map(|received| of_kind(&received)).transpose()
}

/// The objects of this kind that `params` selects; `namespace` is `None` for all of the cluster.
///
/// # Errors
/// The API server refuses, cannot be asked, or answers with something else.
pub async fn list<K>(
    client: &Client,
    namespace: Option<&str>,
    params: &ListParams,
) -> Result<Vec<K>, kube::Error>
where
    K: kube::Resource<DynamicType = ()> + DeserializeOwned,
{
    let found = api(client, namespace, &ApiResource::erase::<K>(&())).list(params).await?;
    found.items.iter().map(of_kind).collect()
}

fn api(client: &Client, namespace: Option<&str>, resource: &ApiResource) -> Api<Received<false>> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

fn of_kind<K: DeserializeOwned>(received: &Received<false>) -> Result<K, kube::Error> {
    // By reference, as watches and interpreters do: what reads a kind is in the program once.
    let object = received.unbounded().and_then(|object| K::deserialize(&object));
    object.map_err(kube::Error::SerdeError)
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
