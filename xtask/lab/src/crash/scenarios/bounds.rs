//! What Subscriptions declare about when upgrades come, and which ones.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{FIRST_INSTALL, PAUSE, VERSION_RANGE};
use olm_types::reasons::subscription::{PAUSED, VERSION_RANGE as BY_RANGE};
use serde_json::json;

use super::declared::following;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct Bounds;

#[async_trait]
impl Scenario for Bounds {
    fn name(&self) -> &'static str {
        "declared-bounds"
    }

    fn about(&self) -> &'static str {
        "a first install without approval, a pause before and after a plan is made, and a range of versions"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", content(&["1.0.0"])), ("later", content(&["1.0.0", "1.1.0"]))]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        first_versions(ctx).await?;
        ctx.annotate("bowl", PAUSE, Some("true")).await?;
        ctx.held("bowl", PAUSED).await?;
        ctx.move_catalog("kitchen", "later").await?;
        a_pause_holds_the_plan_that_waits(ctx).await?;
        ctx.approve("mug").await?;
        ctx.succeeded("mug.v1.1.0").await?;
        ctx.at_latest("mug", "mug.v1.1.0").await?;

        ctx.held("fork", BY_RANGE).await?;
        ctx.at_latest("fork", "fork.v1.0.0").await?;
        ctx.held("bowl", PAUSED).await?;
        ctx.at_latest("bowl", "bowl.v1.0.0").await?;
        ctx.annotate("bowl", PAUSE, None).await?;
        ctx.succeeded("bowl.v1.1.0").await?;
        ctx.at_latest("bowl", "bowl.v1.1.0").await
    }
}

/// What the catalog has first is installed, without approval.
async fn first_versions(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    let first = json!({"metadata": {"annotations": {FIRST_INSTALL: "Automatic"}},
        "spec": {"installPlanApproval": "Manual"}});
    ctx.subscribe_with("mug", "kitchen", first).await?;
    let range = json!({"metadata": {"annotations": {VERSION_RANGE: "<1.1.0"}}});
    ctx.subscribe_with("fork", "kitchen", range).await?;
    ctx.subscribe("bowl", "kitchen").await?;
    // Only now, so that all are resolved at once.
    ctx.catalog("kitchen", "kitchen").await?;
    for name in ["mug", "fork", "bowl"] {
        let csv = format!("{name}.v1.0.0");
        ctx.succeeded(&csv).await?;
        ctx.at_latest(name, &csv).await?;
    }
    Ok(())
}

/// The upgrade of the mug is not pending while the mug is paused, and is so again afterwards.
async fn a_pause_holds_the_plan_that_waits(ctx: &TestContext) -> Result<()> {
    ctx.waiting_plan("mug").await?;
    ctx.annotate("mug", PAUSE, Some("true")).await?;
    ctx.held("mug", PAUSED).await?;
    ctx.annotate("mug", PAUSE, None).await
}

fn content(versions: &[&str]) -> Vec<Package> {
    let packages = ["mug", "fork", "bowl"].map(|name| {
        let bundle = |version: &str| {
            let csv = csv(&format!("{name}.v{version}"), version)
                .deployment(&format!("{name}-manager"), "default");
            Bundle::new(version, &csv)
        };
        following(name, versions, bundle)
    });
    packages.into()
}
