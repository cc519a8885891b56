//! The catalog by image, which ours serve themselves for a while: v0 has its own objects of it again afterwards.

use std::fmt::Debug;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{Api, ListParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::take_over::ImageCatalog;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER, SERVICE_NAME};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Names of volumes that the API server adds begin so, and end in another way for each Pod.
const TOKEN: &str = "kube-api-access-";

/// What there is of the catalog, without what is another each time: names, addresses and times.
pub(super) async fn objects(client: &Client) -> Result<Value> {
    let service = named::<Service>(client).await?;
    let source = named::<CatalogSource>(client).await?;
    let mut spec = service["spec"].clone();
    remove(&mut spec, &["clusterIP", "clusterIPs"]);
    let mut status = source["status"]["registryService"].clone();
    remove(&mut status, &["createdAt"]);
    Ok(json!({
        "service": [written(&service["metadata"]), spec],
        "status": [status, source["status"]["conditions"], source["status"]["message"]],
        "pods": pods(client).await?,
        "endpoints": managers(client).await?,
    }))
}

/// Waits until ours serve the catalog, and no Pod does.
pub(super) async fn by_the_operator(client: &Client) -> Result<()> {
    wait::until_ok("is served by the operator", || async {
        let service = named::<Service>(client).await?;
        ensure!(service["spec"]["selector"].is_null(), "the Service selects Pods: {service:#}");
        let (pods, managers) = (pods(client).await?, managers(client).await?);
        ensure!(pods.is_empty(), "Pods are left: {pods:#?}");
        ensure!(managers == [ENDPOINTS_MANAGER], "endpoints are of {managers:?}");
        anyhow::Ok(())
    })
    .await
}

/// Waits until everything is what it was.
pub(super) async fn until_restored(client: &Client, before: &Value) -> Result<()> {
    wait::until_ok("is as v0 had it", || async {
        let now = objects(client).await?;
        ensure!(now == *before, "there was {before:#}\nthere is {now:#}");
        anyhow::Ok(())
    })
    .await
}

/// The object that is named after the catalog.
async fn named<K>(client: &Client) -> Result<Value>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    let all: Api<K> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    Ok(json!(all.get(ImageCatalog::NAME).await?))
}

/// What was written of the catalog's Pods that are not about to end.
async fn pods(client: &Client) -> Result<Vec<Value>> {
    let of_catalog = format!("{CATALOG_SOURCE}={}", ImageCatalog::NAME);
    let all: Api<Pod> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let all = all.list(&ListParams::default().labels(&of_catalog)).await?;
    let stay = all.items.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(stay.map(|pod| without_names(json!(pod))).collect())
}

fn without_names(mut pod: Value) -> Value {
    let spec = &mut pod["spec"];
    remove(spec, &["nodeName"]);
    remove_tokens(&mut spec["volumes"]);
    for kind in ["containers", "initContainers"] {
        for container in spec[kind].as_array_mut().into_iter().flatten() {
            remove_tokens(&mut container["volumeMounts"]);
        }
    }
    json!([written(&pod["metadata"]), pod["spec"]])
}

fn remove_tokens(volumes: &mut Value) {
    if let Some(volumes) = volumes.as_array_mut() {
        volumes.retain(|one| !one["name"].as_str().is_some_and(|name| name.starts_with(TOKEN)));
    }
}

/// Who looks after the endpoints of the catalog's Service.
async fn managers(client: &Client) -> Result<Vec<String>> {
    let of_service = format!("{SERVICE_NAME}={}", ImageCatalog::NAME);
    let all: Api<EndpointSlice> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let all = all.list(&ListParams::default().labels(&of_service)).await?;
    let manager = |slice: EndpointSlice| slice.metadata.labels?.remove(ENDPOINTS_MANAGED_BY);
    Ok(all.items.into_iter().filter_map(manager).collect())
}

/// What those who made an object wrote into its metadata.
fn written(metadata: &Value) -> Value {
    json!([metadata["labels"], metadata["annotations"], metadata["ownerReferences"]])
}

fn remove(object: &mut Value, fields: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        object.retain(|field, _| !fields.contains(&field.as_str()));
    }
}
