//! Annotations that meet at one Subscription, beside one that waits, where a failed version may be left.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::reasons::subscription::{PINNED, VERSION_RANGE as BY_RANGE};
use serde_json::{Value, json};

use super::declared::following;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct Pairs;

#[async_trait]
impl Scenario for Pairs {
    fn name(&self) -> &'static str {
        "declared-pairs"
    }

    fn about(&self) -> &'static str {
        "pin and approvals, a free first version that fails and is left, a range under a pause, and a sibling that waits"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", content())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        first_versions(ctx).await?;
        ctx.annotate("pan", APPROVE, Some("pan.v1.1.0")).await?;
        comes(ctx, "pan").await?;
        ctx.annotate("ladle", PIN, None).await?;
        comes(ctx, "ladle").await?;
        ctx.annotate("tray", PAUSE, None).await?;
        comes(ctx, "tray").await?;
        ctx.held("tray", BY_RANGE).await?;
        ctx.waiting_plan("jar").await.map(drop)
    }
}

/// What needs no approval is installed, and fails in one case; what is paused, and what waits, is not.
async fn first_versions(ctx: &TestContext) -> Result<()> {
    ctx.forward_group().await?;
    subscribe(ctx, "ladle", json!({PIN: "true", APPROVE: "ladle.v1.1.0"})).await?;
    subscribe(ctx, "pan", json!({FIRST_INSTALL: "Automatic"})).await?;
    let approved = "tray.v1.0.0, tray.v1.1.0";
    subscribe(ctx, "tray", json!({PAUSE: "true", VERSION_RANGE: "<1.2.0", APPROVE: approved}))
        .await?;
    subscribe(ctx, "jar", json!({})).await?;
    // Only now, so that all are resolved at once.
    ctx.catalog("kitchen", "kitchen").await?;
    ctx.succeeded("ladle.v1.0.0").await?;
    ctx.at_latest("ladle", "ladle.v1.0.0").await?;
    ctx.held("ladle", PINNED).await?;
    ctx.failed("pan.v1.0.0").await?;
    ctx.waiting_plan("jar").await.map(drop)
}

async fn subscribe(ctx: &TestContext, name: &str, annotations: Value) -> Result<()> {
    let first = format!("{name}.v1.0.0");
    let fields = json!({"metadata": {"annotations": annotations},
        "spec": {"installPlanApproval": "Manual", "startingCSV": first}});
    ctx.subscribe_with(name, "kitchen", fields).await
}

/// Waits until the second version has taken the place of the first.
async fn comes(ctx: &TestContext, name: &str) -> Result<()> {
    let csv = format!("{name}.v1.1.0");
    ctx.succeeded(&csv).await?;
    ctx.at_latest(name, &csv).await?;
    ctx.csv_gone(&format!("{name}.v1.0.0")).await
}

/// The first version of the pan cannot be installed.
fn content() -> Vec<Package> {
    let package = |name: &str, versions: &[&str]| {
        let bundle = |version: &str| {
            let made = csv(&format!("{name}.v{version}"), version)
                .deployment(&format!("{name}-manager"), "default");
            let made = match (name, version) {
                ("pan", "1.0.0") => made.with(|csv| csv.spec.install.strategy = "helm".to_owned()),
                _ => made,
            };
            Bundle::new(version, &made)
        };
        following(name, versions, bundle)
    };
    vec![
        package("ladle", &["1.0.0", "1.1.0"]),
        package("pan", &["1.0.0", "1.1.0"]),
        package("tray", &["1.0.0", "1.1.0", "1.2.0"]),
        package("jar", &["1.0.0"]),
    ]
}
