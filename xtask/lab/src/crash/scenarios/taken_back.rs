//! A pin that moves to a version whose InstallPlan fails, and goes back.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::refusal;
use olm_types::annotations::PIN;
use olm_types::reasons::subscription::PINNED;
use serde_json::json;

use crate::crash::context::{NAMESPACE, TestContext};
use crate::crash::scenario::Scenario;

pub(super) struct TakenBack;

#[async_trait]
impl Scenario for TakenBack {
    fn name(&self) -> &'static str {
        "declared-taken-back"
    }

    fn about(&self) -> &'static str {
        "a pin moves to a version whose plan fails, goes back, and moves on to another version"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", vec![graters()])]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            refusal::refuse(&ctx.client, NAMESPACE, "grater.v1.1.0").await?;
            ctx.operator_group().await?;
            ctx.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        let pin = json!({"metadata": {"annotations": {PIN: "true"}},
            "spec": {"installPlanApproval": "Manual", "startingCSV": "grater.v1.0.0"}});
        ctx.subscribe_with("grater", "kitchen", pin).await?;
        ctx.succeeded("grater.v1.0.0").await?;
        ctx.at_latest("grater", "grater.v1.0.0").await?;
        ctx.pin_to("grater", "grater.v1.1.0").await?;
        ctx.refused_plan_fails().await?;
        ctx.pin_to("grater", "grater.v1.0.0").await?;
        ctx.held("grater", PINNED).await?;
        ctx.pin_to("grater", "grater.v1.2.0").await?;
        ctx.succeeded("grater.v1.2.0").await?;
        ctx.at_latest("grater", "grater.v1.2.0").await?;
        ctx.csv_gone("grater.v1.0.0").await
    }
}

/// Three versions; the third is reached from both others.
fn graters() -> Package {
    let bundle = |version: &str| {
        let csv =
            csv(&format!("grater.v{version}"), version).deployment("grater-manager", "default");
        Bundle::new(version, &csv)
    };
    let next = bundle("1.1.0").replaces("grater.v1.0.0");
    let last = bundle("1.2.0").replaces("grater.v1.1.0").skip_range(">=1.0.0 <1.2.0");
    Package::new("grater").channel("stable", vec![bundle("1.0.0"), next, last])
}
