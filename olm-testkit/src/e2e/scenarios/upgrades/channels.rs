//! A Subscription changes its mind.

use std::sync::Arc;

use anyhow::{Context, Result};
use kube::api::{Api, Patch, PatchParams};
use olm_types::api::Subscription;
use serde_json::json;

use super::{Recorded, kettle, kettles};
use crate::builders::Package;
use crate::e2e::context::TestContext;

/// Another channel has a newer version.
pub async fn switch_to_a_faster_one(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let old = kettle("1.0.0", &kind);
    let new = kettle("2.0.0", &kind).replaces("kettle.v1.0.0");
    let package =
        Package::new("kettle").channel("stable", vec![old.clone()]).channel("fast", vec![old, new]);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &[package]).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    ctx.at_latest("kettle", "kettle.v1.0.0").await?;

    let subscriptions: Api<Subscription> = ctx.api();
    let fast = Patch::Merge(json!({"spec": {"channel": "fast"}}));
    subscriptions.patch("kettle", &PatchParams::default(), &fast).await.context("cannot switch")?;
    ctx.at_latest("kettle", "kettle.v2.0.0").await?;
    recorded.check_replacements(&["kettle.v1.0.0", "kettle.v2.0.0"]).await?;
    recorded.check_plans(&ctx, &["kettle.v1.0.0", "kettle.v2.0.0"]).await
}
