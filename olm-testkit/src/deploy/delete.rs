//! Taking everything away again that `deploy/` puts into a cluster.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use kube::discovery::pinned_kind;
use kube::{Client, Error, ResourceExt};

use super::server_side::api_of;
use super::{Options, definitions, kind, objects};
use crate::operators::{OLM_NAMESPACE, Operator};
use crate::{packages, wait};

/// Removes all of it, and waits until it is gone. The definitions go first, and with them every
/// object of OLM's kinds: the operators, wherever they run, can still do their part for those with
/// finalizers.
///
/// # Errors
///
/// When the API server refuses, or something is still there in the end.
pub async fn delete(client: &Client) -> Result<()> {
    delete_definitions(client).await?;
    let all = objects(&Options::default())?;
    // Those of OLM's kinds went with their definitions.
    let rest = all.iter().rev().filter(|object| !is_olms(object));
    for object in rest.clone() {
        let api = api_of(client, object).await?;
        gone(api.delete(&object.name_any(), &DeleteParams::default()).await)
            .with_context(|| format!("cannot delete {} {}", kind(object), object.name_any()))?;
    }
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for namespace in rest.filter(|object| kind(object) == "Namespace") {
        wait::until_gone(&namespaces, &namespace.name_any()).await?;
    }
    Ok(())
}

/// Removes the Deployments and the APIService alone: what [`super::With::Deployments`] adds.
///
/// # Errors
///
/// When the API server refuses, or a Deployment is still there in the end.
pub async fn delete_deployments(client: &Client) -> Result<()> {
    let services: Api<APIService> = Api::all(client.clone());
    gone(services.delete(packages::API_SERVICE, &DeleteParams::default()).await)
        .context("cannot delete the APIService")?;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    for operator in Operator::ALL {
        let name = operator.name();
        gone(deployments.delete(name, &DeleteParams::foreground()).await)
            .with_context(|| format!("cannot delete Deployment {name}"))?;
        wait::until_gone(&deployments, name).await?;
    }
    Ok(())
}

async fn delete_definitions(client: &Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definitions = definitions()?;
    for definition in &definitions {
        let name = definition.name_any();
        list_once(client, &crds, &name).await;
        gone(crds.delete(&name, &DeleteParams::default()).await)
            .with_context(|| format!("cannot delete the definition {name}"))?;
    }
    for definition in &definitions {
        wait::until_gone(&crds, &definition.name_any()).await?;
    }
    Ok(())
}

/// The definition of a kind that was never listed can hang in its deletion for over a minute
/// (seen with Kubernetes 1.34: its storage is still being initialized).
async fn list_once(client: &Client, crds: &Api<CustomResourceDefinition>, name: &str) {
    let Ok(crd) = crds.get(name).await else { return };
    let Some(version) = crd.spec.versions.iter().find(|version| version.served) else { return };
    let gvk = GroupVersionKind::gvk(&crd.spec.group, &version.name, &crd.spec.names.kind);
    if let Ok((resource, _)) = pinned_kind(client, &gvk).await {
        let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        // Whatever the answer is, the storage is there now.
        let _ = all.list(&ListParams::default().limit(1)).await;
    }
}

fn is_olms(object: &DynamicObject) -> bool {
    let version = object.types.as_ref().map(|types| types.api_version.as_str());
    version.is_some_and(|version| version.starts_with("operators.coreos.com/"))
}

/// Nothing to delete is as good as deleted.
fn gone<T>(answer: Result<T, Error>) -> Result<(), Error> {
    match answer {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(drop),
    }
}
