//! What runs: the Deployments of a namespace.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use super::timeline::Timeline;

/// Prints every Deployment with its image, and fails when one is not ready.
pub(super) async fn show(timeline: &Timeline, client: &Client, namespace: &str) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let list = deployments.list(&ListParams::default()).await.context("cannot list Deployments")?;
    ensure!(!list.items.is_empty(), "no Deployment runs");
    for deployment in &list {
        timeline.event("Deployment", line(deployment)?);
    }
    Ok(())
}

/// The image of an operator.
pub(super) fn image(deployment: &Deployment) -> Option<&str> {
    let pod = deployment.spec.as_ref()?.template.spec.as_ref()?;
    pod.containers.first()?.image.as_deref()
}

/// How many of its pods are ready, and what they run.
pub(super) fn line(deployment: &Deployment) -> Result<String> {
    let (name, status) = (deployment.name_any(), deployment.status.clone().unwrap_or_default());
    let (ready, wanted) = (status.ready_replicas.unwrap_or(0), status.replicas.unwrap_or(0));
    ensure!(ready == wanted && ready > 0, "{name} is not ready");
    Ok(format!("{name} {ready}/{wanted} ready, {}", image(deployment).unwrap_or_default()))
}
