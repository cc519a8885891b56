//! Two annotations that meet at one Subscription, at first and once the manifest has changed: those of which
//! `declared-pairs` has none.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::reasons::subscription::{PINNED, VERSION_RANGE as BY_RANGE};
use serde_json::{Value, json};

use super::declared::following;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct VersionPairs;

/// In their order: the last one is the only one that has another plan as soon as the first version is there, so that
/// plans have the same numbers in each run.
const NAMES: [&str; 6] = ["bowl", "cup", "dish", "fork", "mug", "pot"];

#[async_trait]
impl Scenario for VersionPairs {
    fn name(&self) -> &'static str {
        "declared-version-pairs"
    }

    fn about(&self) -> &'static str {
        "a pin with a range, a pause and a first install; a first install with a range, a pause and an approval"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", content())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        first_versions(ctx).await?;
        ctx.pin_to("bowl", "bowl.v1.2.0").await?;
        comes(ctx, "bowl", "1.2.0").await?;
        ctx.annotate("cup", PAUSE, None).await?;
        comes(ctx, "cup", "1.1.0").await?;
        ctx.held("cup", PINNED).await?;
        ctx.annotate("dish", PIN, None).await?;
        ctx.waits_for("dish", "dish.v1.1.0").await?;
        ctx.annotate("fork", VERSION_RANGE, Some("<1.2.0")).await?;
        ctx.waits_for("fork", "fork.v1.1.0").await?;
        ctx.annotate("mug", PAUSE, None).await?;
        comes(ctx, "mug", "1.2.0").await?;
        ctx.annotate("pot", APPROVE, Some("pot.v1.1.0, pot.v1.2.0")).await?;
        comes(ctx, "pot", "1.2.0").await
    }
}

/// What is paused has nothing, and nothing but the pot waits.
async fn first_versions(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    let (pin, free, pause) = ((PIN, "true"), (FIRST_INSTALL, "Automatic"), (PAUSE, "true"));
    subscribe(ctx, "bowl", "1.1.0", &[pin, (VERSION_RANGE, ">=1.1.0")]).await?;
    subscribe(ctx, "cup", "1.1.0", &[pin, pause]).await?;
    subscribe(ctx, "dish", "1.0.0", &[free, pin]).await?;
    subscribe(ctx, "fork", "1.0.0", &[free, (VERSION_RANGE, "<1.1.0")]).await?;
    subscribe(ctx, "mug", "", &[free, pause]).await?;
    subscribe(ctx, "pot", "1.0.0", &[free, (APPROVE, "pot.v1.2.0")]).await?;
    // Only now, so that all are resolved at once.
    ctx.catalog("kitchen", "kitchen").await?;
    for (name, version, reason) in
        [("bowl", "1.1.0", PINNED), ("dish", "1.0.0", PINNED), ("fork", "1.0.0", BY_RANGE)]
    {
        comes(ctx, name, version).await?;
        ctx.held(name, reason).await?;
    }
    ctx.succeeded("pot.v1.0.0").await?;
    ctx.waits_for("pot", "pot.v1.1.0").await
}

/// A Manual Subscription; without `startingCSV` where the version is empty.
pub(super) async fn subscribe(
    ctx: &TestContext,
    name: &str,
    starting: &str,
    says: &[(&str, &str)],
) -> Result<()> {
    let annotations: Value = says.iter().copied().collect();
    let mut spec = json!({"installPlanApproval": "Manual"});
    if !starting.is_empty() {
        spec["startingCSV"] = json!(format!("{name}.v{starting}"));
    }
    let fields = json!({"metadata": {"annotations": annotations}, "spec": spec});
    ctx.subscribe_with(name, "kitchen", fields).await
}

/// Waits until a version is all that is there, and all that is asked for.
pub(super) async fn comes(ctx: &TestContext, name: &str, version: &str) -> Result<()> {
    let csv = format!("{name}.v{version}");
    ctx.succeeded(&csv).await?;
    ctx.at_latest(name, &csv).await?;
    for older in ["1.0.0", "1.1.0"].into_iter().filter(|older| *older != version) {
        ctx.csv_gone(&format!("{name}.v{older}")).await?;
    }
    Ok(())
}

/// Three versions of each, one after the other.
fn content() -> Vec<Package> {
    let package = |name: &str| {
        let bundle = |version: &str| {
            let made = csv(&format!("{name}.v{version}"), version);
            Bundle::new(version, &made.deployment(&format!("{name}-manager"), "default"))
        };
        following(name, &["1.0.0", "1.1.0", "1.2.0"], bundle)
    };
    NAMES.map(package).into()
}
