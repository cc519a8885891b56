//! What both versions bring stays, however soon the next version runs.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

use super::stable;
use crate::builders::{Bundle, csv};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::recovery::Policy;
use crate::wait;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// The next version has succeeded while its InstallPlan cannot go on: what the plan has not come to belongs to the old
/// version alone, and would be collected with it. What users put into it would be lost.
pub async fn until_the_plan_is_done(ctx: Arc<TestContext>) -> Result<()> {
    let maps = ctx.api::<ConfigMap>();
    let (old, new) = (bundle("1.0.0"), bundle("2.0.0").replaces(OLD));
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.at_latest("kettle", OLD).await?;
    ctx.succeeded(OLD).await?;
    let before = maps.get("menu").await.context("there is no ConfigMap")?;

    let closed = Policy::refuse_config_maps(&ctx).await?;
    ctx.publish("kitchen", &stable(&[old, new])).await?;
    ctx.csv_phase(NEW, CsvPhase::Succeeded, "InstallSucceeded").await?;
    another_operator(&ctx).await?;
    let csvs = ctx.api::<ClusterServiceVersion>();
    let old = csvs.get(OLD).await.context("the old version did not wait for the plan")?;
    ensure!(old.phase() == CsvPhase::Replacing, "the old version is {:?}", old.phase());
    closed.withdraw().await?;
    wait::until_gone(&csvs, OLD).await?;
    ctx.at_latest("kettle", NEW).await?;
    is_kept(&maps, &before).await
}

/// It needs nothing that the plan brings: it runs as soon as its CSV is there.
fn bundle(version: &str) -> Bundle {
    let csv = csv(&format!("kettle.v{version}"), version).deployment("kettle", "default");
    let menu = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "menu"}});
    Bundle::new(version, &csv).manifest(menu)
}

/// What was asked of OLM before this one ran has been done.
async fn another_operator(ctx: &TestContext) -> Result<()> {
    let other = csv("toaster.v1.0.0", "1.0.0").deployment("toaster", "default");
    ctx.create(&other.build()).await?;
    ctx.succeeded("toaster.v1.0.0").await.map(drop)
}

async fn is_kept(maps: &Api<ConfigMap>, before: &ConfigMap) -> Result<()> {
    let after = maps.get("menu").await.context("it is gone")?;
    ensure!(after.uid() == before.uid(), "it was made anew");
    let owners = after.owner_references();
    ensure!(owners.iter().any(|owner| owner.name == NEW), "it belongs to {owners:?}");
    Ok(())
}
