//! Versions that are declared: reached step by step, refused, and not to be read.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{PIN, VERSION_RANGE};
use olm_types::reasons::subscription::{MALFORMED_VALUE, PINNED, VERSION_RANGE as BY_RANGE};
use serde_json::json;

use super::declared::following;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct Pins;

#[async_trait]
impl Scenario for Pins {
    fn name(&self) -> &'static str {
        "declared-pins"
    }

    fn about(&self) -> &'static str {
        "a pin that is refused and one that is reached in two steps, and a range that cannot be read for a while"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", content())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        first_versions(ctx).await?;
        ctx.pin_to("spoon", "spoon.v9.9.9").await?;
        ctx.refused("spoon").await?;
        ctx.pin_to("spoon", "spoon.v1.2.0").await?;
        ctx.succeeded("spoon.v1.2.0").await?;
        ctx.at_latest("spoon", "spoon.v1.2.0").await?;
        ctx.csv_gone("spoon.v1.1.0").await?;

        ctx.annotate("whisk", VERSION_RANGE, Some("=>1")).await?;
        ctx.held("whisk", MALFORMED_VALUE).await?;
        ctx.annotate("whisk", VERSION_RANGE, Some("<1.2.0")).await?;
        ctx.succeeded("whisk.v1.1.0").await?;
        ctx.at_latest("whisk", "whisk.v1.1.0").await?;
        ctx.held("whisk", BY_RANGE).await
    }
}

/// The pinned version and what is in the range are installed, though there are newer ones.
async fn first_versions(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    let pin = json!({"metadata": {"annotations": {PIN: "true"}},
        "spec": {"installPlanApproval": "Manual", "startingCSV": "spoon.v1.0.0"}});
    ctx.subscribe_with("spoon", "kitchen", pin).await?;
    let range = json!({"metadata": {"annotations": {VERSION_RANGE: "<1.1.0"}}});
    ctx.subscribe_with("whisk", "kitchen", range).await?;
    // Only now, so that both are resolved at once.
    ctx.catalog("kitchen", "kitchen").await?;
    for (name, reason) in [("spoon", PINNED), ("whisk", BY_RANGE)] {
        let csv = format!("{name}.v1.0.0");
        ctx.succeeded(&csv).await?;
        ctx.at_latest(name, &csv).await?;
        ctx.held(name, reason).await?;
    }
    Ok(())
}

fn content() -> Vec<Package> {
    let packages = ["spoon", "whisk"].map(|name| {
        let bundle = |version: &str| {
            let csv = csv(&format!("{name}.v{version}"), version)
                .deployment(&format!("{name}-manager"), "default");
            Bundle::new(version, &csv)
        };
        following(name, &["1.0.0", "1.1.0", "1.2.0"], bundle)
    });
    packages.into()
}
