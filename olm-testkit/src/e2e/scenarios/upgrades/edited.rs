//! A user changed the installed version.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, Patch, PatchParams};
use olm_types::api::ClusterServiceVersion;
use serde_json::json;

use super::{Recorded, kettle, kettles, stable};
use crate::e2e::context::TestContext;
use crate::wait;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// What users wrote into the CSV is obeyed, and does not keep its operator from being upgraded. The
/// next version is as its bundle says.
pub async fn by_users(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let versions = [kettle("1.0.0", &kind), kettle("2.0.0", &kind).replaces(OLD)];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&versions[..1])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;
    edit(&ctx).await?;
    has_replicas(&ctx, 2).await?;
    ctx.succeeded(OLD).await?;

    ctx.publish("kitchen", &stable(&versions)).await?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), OLD).await?;
    has_replicas(&ctx, 1).await?;
    let new: ClusterServiceVersion = ctx.api().get(NEW).await?;
    ensure!(new.spec.display_name == NEW, "it is called {}", new.spec.display_name);
    recorded.check_one_at_a_time()
}

async fn edit(ctx: &TestContext) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    let patch = json!([
        {"op": "replace", "path": "/spec/displayName", "value": "our kettle"},
        {"op": "add", "path": "/metadata/labels/team", "value": "tea"},
        {"op": "replace", "path": "/spec/install/spec/deployments/0/spec/replicas", "value": 2},
    ]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(patch)?);
    let edited = csvs.patch(OLD, &PatchParams::default(), &patch).await;
    edited.map(drop).context("cannot edit the CSV")
}

async fn has_replicas(ctx: &TestContext, wanted: i32) -> Result<()> {
    let what = format!("have {wanted} replicas");
    wait::until(&ctx.api(), "kettle-manager", &what, |deployment: &Deployment| {
        deployment.spec.as_ref().and_then(|spec| spec.replicas) == Some(wanted)
    })
    .await
    .map(drop)
}
