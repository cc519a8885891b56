//! The Pods of OLM end at once, as when their node loses power.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, ListParams};

use crate::e2e::TestContext;
use crate::e2e::provider::in_cluster::OPERATOR_PODS;

/// The Pods of both operators.
pub(super) async fn pods(ctx: &TestContext) -> Result<(Api<Pod>, ListParams)> {
    let namespace = ctx.facts().olm_namespace.as_deref();
    let namespace = namespace.context("it is not known where the Pods of OLM are")?;
    let pods = Api::namespaced(ctx.client.clone(), namespace);
    Ok((pods, ListParams::default().labels(OPERATOR_PODS)))
}

/// Kills both operators. Kubernetes makes new Pods, which the scenario does not wait for.
pub(super) async fn kill_olm(ctx: &TestContext) -> Result<()> {
    let (pods, both) = pods(ctx).await?;
    let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    pods.delete_collection(&at_once, &both).await.context("cannot kill the Pods of OLM")?;
    Ok(())
}
