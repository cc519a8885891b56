//! Waiting until both Deployments are available, and saying what keeps one from it.

mod problem;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Client;
use kube::api::{Api, ListParams};

use crate::operators::{OLM_NAMESPACE, Operator};
use crate::wait;

/// Waits until both operators are available in their latest form.
///
/// # Errors
///
/// When one is not in time. The message begins with the cause: what the Pods wait for, how their
/// containers ended, and the warnings about them.
pub async fn wait_ready(client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    for operator in Operator::ALL {
        let waited = wait::until(&deployments, operator.name(), "be available", is_available).await;
        if let Err(error) = waited {
            let why = cause(client, operator).await.unwrap_or_else(|error| format!("{error:#}"));
            return Err(anyhow!("{operator} is not ready:\n{why}\n{error:#}"));
        }
    }
    Ok(())
}

/// Whether every Pod that a Deployment wants is there, of its latest form and available.
pub fn is_available(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && status.updated_replicas.unwrap_or_default() == wanted
            && status.replicas.unwrap_or_default() == wanted
            && status.available_replicas.unwrap_or_default() == wanted
    })
}

async fn cause(client: &Client, operator: Operator) -> Result<String> {
    let name = operator.name();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let deployment = deployments.get_opt(name).await.context("cannot read the Deployment")?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let ours = ListParams::default().labels(&format!("app={name}"));
    let pods = pods.list(&ours).await.context("cannot list its Pods")?;
    let events: Api<Event> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let warnings = ListParams::default().fields("type=Warning");
    let events = events.list(&warnings).await.context("cannot list events")?;
    let about = |event: &Event| {
        let object = event.involved_object.name.as_deref().unwrap_or_default();
        object == name || object.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    };
    let events: Vec<Event> = events.items.into_iter().filter(about).collect();
    Ok(problem::describe(deployment.as_ref(), &pods.items, &events))
}
