//! Each annotation where the catalog does not answer at first.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::reasons::subscription::PINNED;

use super::declared::following;
use super::version_pairs::{comes, subscribe};
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

/// The catalog answers in the end: one that does not is tried again and again, and its status is written each time, so
/// that a run would have no last write.
pub(super) struct DeadCatalog;

const NAMES: [&str; 6] = ["bell", "clock", "drum", "flute", "gong", "harp"];

#[async_trait]
impl Scenario for DeadCatalog {
    fn name(&self) -> &'static str {
        "declared-dead-catalog"
    }

    fn about(&self) -> &'static str {
        "approval, first install, pin, range and pause, and a sibling that waits, while the catalog does not answer"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", NAMES.map(package).into())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        nothing_comes(ctx).await?;
        ctx.move_catalog("kitchen", "kitchen").await?;
        comes(ctx, "bell", "1.1.0").await?;
        comes(ctx, "clock", "1.1.0").await?;
        comes(ctx, "drum", "1.0.0").await?;
        ctx.held("drum", PINNED).await?;
        ctx.waits_for("flute", "flute.v1.0.0").await?;
        ctx.waits_for("harp", "harp.v1.1.0").await?;
        ctx.annotate("gong", PAUSE, None).await?;
        comes(ctx, "gong", "1.1.0").await
    }
}

/// Each says what prevents its resolution, but for the one that is paused.
async fn nothing_comes(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    let free = (FIRST_INSTALL, "Automatic");
    subscribe(ctx, "bell", "", &[(APPROVE, "bell.v1.1.0")]).await?;
    subscribe(ctx, "clock", "", &[free]).await?;
    subscribe(ctx, "drum", "1.0.0", &[(PIN, "true")]).await?;
    subscribe(ctx, "flute", "", &[(VERSION_RANGE, "<1.1.0")]).await?;
    subscribe(ctx, "gong", "", &[free, (PAUSE, "true")]).await?;
    subscribe(ctx, "harp", "", &[]).await?;
    ctx.dead_catalog("kitchen").await?;
    for name in NAMES.into_iter().filter(|name| *name != "gong") {
        ctx.prevented(name).await?;
    }
    Ok(())
}

/// Two versions, one after the other.
fn package(name: &str) -> Package {
    let bundle = |version: &str| {
        let made = csv(&format!("{name}.v{version}"), version);
        Bundle::new(version, &made.deployment(&format!("{name}-manager"), "default"))
    };
    following(name, &["1.0.0", "1.1.0"], bundle)
}
