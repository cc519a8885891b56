//! A Deployment whose pods cannot run, or no longer run.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::CsvPhase;
use serde_json::json;

use super::steps::not_available;
use crate::builders::csv;
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::capacity::NodeCapacity;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::deployment::no_node",
            "the node that Pods want comes, goes and comes back",
            no_node,
        ),
        scenario(
            "recovery::deployment::no_quota",
            "a quota allows no Pod, and then is gone",
            no_quota,
        ),
        scenario(
            "recovery::deployment::deadline",
            "a Deployment that has given up succeeds after all",
            deadline,
        ),
    ]
}

/// The node that the pods want comes, goes and comes back.
async fn no_node(ctx: Arc<TestContext>) -> Result<()> {
    let capacity = NodeCapacity::of(&ctx);
    ctx.operator_group().await?;
    let csv = csv("tall.v1.0.0", "1.0.0").deployment("tall", "default");
    ctx.create(&capacity.wanted_by(csv).build()).await?;
    let message = not_available("tall");
    ctx.is("tall.v1.0.0", (CsvPhase::Installing, "InstallWaiting", &message)).await?;
    ctx.announced("tall.v1.0.0", "InstallWaiting", &message).await?;
    capacity.open().await?;
    let before = ctx.succeeded("tall.v1.0.0").await?;

    capacity.close().await?;
    let pods: Api<Pod> = ctx.api();
    let all = ListParams::default().labels("app=tall");
    pods.delete_collection(&DeleteParams::default(), &all).await.context("cannot delete pods")?;
    ctx.announced("tall.v1.0.0", "ComponentUnhealthy", &message).await?;
    ctx.is("tall.v1.0.0", (CsvPhase::Installing, "InstallWaiting", &message)).await?;
    capacity.open().await?;
    let through = [
        (CsvPhase::Failed, "ComponentUnhealthy", message.as_str()),
        (CsvPhase::Pending, "NeedsReinstall", message.as_str()),
    ];
    ctx.recovered(&before, &through).await?;
    ctx.until_idle().await?;
    capacity.close().await
}

/// A quota allows no pod, and then is gone.
async fn no_quota(ctx: Arc<TestContext>) -> Result<()> {
    let quota: ResourceQuota = serde_json::from_value(json!({
        "metadata": {"name": "no-pods"}, "spec": {"hard": {"pods": "0"}},
    }))?;
    ctx.operator_group().await?;
    ctx.create(&quota).await?;
    wait::until(&ctx.api(), "no-pods", "be in force", |quota: &ResourceQuota| {
        quota.status.as_ref().is_some_and(|status| status.hard.is_some())
    })
    .await?;
    ctx.create(&csv("poor.v1.0.0", "1.0.0").deployment("poor", "default").build()).await?;
    let message = not_available("poor");
    ctx.is("poor.v1.0.0", (CsvPhase::Installing, "InstallWaiting", &message)).await?;
    ctx.delete::<ResourceQuota>("no-pods").await?;
    ctx.succeeded("poor.v1.0.0").await?;
    ctx.until_idle().await
}

/// The Deployment controller has given up; when its pods can run after all, the CSV succeeds.
async fn deadline(ctx: Arc<TestContext>) -> Result<()> {
    let capacity = NodeCapacity::of(&ctx);
    ctx.operator_group().await?;
    let csv = csv("late.v1.0.0", "1.0.0")
        .deployment("late", "default")
        .deployments(|spec| spec["progressDeadlineSeconds"] = json!(1));
    ctx.create(&capacity.wanted_by(csv).build()).await?;
    let message = "install failed: deployment late not ready before timeout: deployment \"late\" \
                   exceeded its progress deadline";
    ctx.is("late.v1.0.0", (CsvPhase::Failed, "InstallCheckFailed", message)).await?;
    ctx.announced("late.v1.0.0", "InstallCheckFailed", message).await?;
    capacity.open().await?;
    ctx.succeeded("late.v1.0.0").await?;
    ctx.until_idle().await?;
    capacity.close().await
}
