//! An upgrade that cannot be.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::api::{Api, ListParams};
use olm_types::api::{ClusterServiceVersion, InstallPlan};

use super::{Recorded, kettle, kettles, stable};
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// The newer version needs a kind that no operator provides: the old one stays at work, no plan is
/// made, and the Subscription says why. The upgrade follows once an operator provides the kind.
pub async fn a_missing_api(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let taps = ctx.kind("Tap");
    let new = operator("kettle", "1.1.0", &kind).requires(&taps);
    let new = Bundle::new("1.1.0", &new).provides(&kind).requires(&taps).replaces(OLD);
    let kettles = [kettle("1.0.0", &kind), new];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&kettles[..1])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;

    let [kettle] = stable(&kettles);
    ctx.publish("kitchen", &[kettle.clone(), small("spoon")]).await?;
    // The namespace was resolved with the new catalog when another Subscription to it is installed.
    ctx.subscribe("spoon", "kitchen").await?;
    ctx.succeeded("spoon.v1.0.0").await?;
    ctx.at_latest("spoon", "spoon.v1.0.0").await?;
    ctx.installed("kettle", OLD).await?;
    check_nothing_started(&ctx).await?;
    check_reported(&ctx).await?;
    ctx.until_idle().await?;

    let tap = Bundle::new("1.0.0", &operator("tap", "1.0.0", &taps)).provides(&taps);
    ctx.publish("kitchen", &[kettle, small("spoon"), Package::single("tap", tap)]).await?;
    ctx.succeeded("tap.v1.0.0").await?;
    ctx.succeeded(NEW).await?;
    let kettle = ctx.at_latest("kettle", NEW).await?;
    let conditions = kettle.status.map(|status| status.conditions).unwrap_or_default();
    ensure!(
        !conditions.iter().any(|condition| condition.type_ == "UpgradeBlocked"),
        "the upgrade is done and reported as blocked: {conditions:?}"
    );
    recorded.check_chain(&[OLD, NEW]).await
}

async fn check_reported(ctx: &TestContext) -> Result<()> {
    let (condition, reason) = ("UpgradeBlocked", "ConstraintsNotSatisfiable");
    let reported = ctx.condition("kettle", condition, "True", reason).await?;
    let why = reported.message.unwrap_or_default();
    let expected = format!("{OLD} is not upgraded to {NEW} (channel ");
    let is_reported =
        why.starts_with(&expected) && why.contains(" requires a provider of the API Tap ");
    ensure!(is_reported, "{why:?}");
    Ok(())
}

async fn check_nothing_started(ctx: &TestContext) -> Result<()> {
    ctx.succeeded(OLD).await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    ensure!(csvs.get_opt(NEW).await?.is_none(), "the upgrade has started");
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    let names = plans.items.iter().flat_map(|plan| &plan.spec.cluster_service_version_names);
    let names: Vec<&String> = names.collect();
    ensure!(!names.iter().any(|name| *name == NEW), "there are plans for {names:?}");
    Ok(())
}

fn small(name: &str) -> Package {
    let csv = crate::builders::csv(&format!("{name}.v1.0.0"), "1.0.0");
    Package::single(name, Bundle::new("1.0.0", &csv.deployment(name, "default")))
}
