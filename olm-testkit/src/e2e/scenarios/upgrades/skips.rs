//! Versions that an upgrade passes over.

use std::sync::Arc;

use anyhow::{Context, Result};
use olm_types::api::ClusterServiceVersion;

use super::{Recorded, kettle, kettles, stable};
use crate::builders::Bundle;
use crate::e2e::context::{TestContext, same};

const GOOD: &str = "kettle.v1.0.0";
const BAD: &str = "kettle.v1.1.0";
const FIXED: &str = "kettle.v1.2.0";

/// A bad version is in the catalog, and one that repairs it.
fn repaired(ctx: &TestContext) -> [Bundle; 3] {
    let kind = kettles(ctx);
    [
        kettle("1.0.0", &kind),
        kettle("1.1.0", &kind).replaces(GOOD),
        kettle("1.2.0", &kind).replaces(GOOD).skips(&[BAD]),
    ]
}

/// Who does not have the bad version never gets it.
pub async fn a_bad_version_is_passed_over(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, versions) = (Recorded::begin(&ctx).await?, repaired(&ctx));
    ctx.operator_group().await?;
    install(&ctx, &versions[..1], GOOD).await?;
    ctx.publish("kitchen", &stable(&versions)).await?;
    upgraded(&ctx, &recorded, GOOD, FIXED).await
}

/// Who has the bad version gets rid of it.
pub async fn a_bad_version_is_repaired(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, versions) = (Recorded::begin(&ctx).await?, repaired(&ctx));
    ctx.operator_group().await?;
    install(&ctx, &versions[..2], BAD).await?;
    ctx.publish("kitchen", &stable(&versions)).await?;
    upgraded(&ctx, &recorded, BAD, FIXED).await
}

/// A version replaces all of a range, even those that its catalog does not know any more.
pub async fn a_range_of_versions(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    ctx.operator_group().await?;
    install(&ctx, &[kettle("1.0.0", &kind)], GOOD).await?;
    let head = kettle("1.2.0", &kind).skip_range(">=1.0.0 <1.2.0");
    ctx.publish("kitchen", &stable(&[head])).await?;
    upgraded(&ctx, &recorded, GOOD, FIXED).await
}

async fn install(ctx: &TestContext, versions: &[Bundle], head: &str) -> Result<()> {
    ctx.catalog("kitchen", &stable(versions)).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(head).await?;
    ctx.at_latest("kettle", head).await.map(drop)
}

/// One upgrade, directly from one version to the other.
async fn upgraded(ctx: &TestContext, recorded: &Recorded, old: &str, new: &str) -> Result<()> {
    ctx.at_latest("kettle", new).await?;
    recorded.check_replacements(&[old, new]).await?;
    let way = [
        "- - - -".to_owned(),
        format!("UpgradePending {old} - 1"),
        format!("AtLatestKnown {old} {old} 1"),
        format!("UpgradePending {new} {old} 2"),
        format!("AtLatestKnown {new} {new} 2"),
    ];
    recorded.check_subscription("kettle", &way.each_ref().map(String::as_str)).await?;
    recorded.check_plans(ctx, &[old, new]).await?;
    let csv: ClusterServiceVersion = ctx.api().get(new).await.context("no new version")?;
    // Whatever the bundle says, the installed version is the one that is replaced.
    same(csv.spec.replaces.as_deref(), old)?;
    Ok(())
}
