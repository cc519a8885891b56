//! Each annotation where a version fails and may be left for the next one.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::reasons::subscription::{PAUSED, PINNED, VERSION_RANGE as BY_RANGE};

use super::declared::following;
use super::version_pairs::{comes, subscribe};
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct FailedVersions;

const NAMES: [&str; 4] = ["dial", "gauge", "lever", "valve"];

#[async_trait]
impl Scenario for FailedVersions {
    fn name(&self) -> &'static str {
        "declared-failures"
    }

    fn about(&self) -> &'static str {
        "a first version fails, and a pin, a range, a pause and an approval say when it is left for the next one"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", NAMES.map(package).into())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        failed_versions(ctx).await?;
        ctx.pin_to("dial", "dial.v1.1.0").await?;
        comes(ctx, "dial", "1.1.0").await?;
        ctx.annotate("gauge", VERSION_RANGE, Some("<1.2.0")).await?;
        comes(ctx, "gauge", "1.1.0").await?;
        ctx.annotate("lever", PAUSE, None).await?;
        comes(ctx, "lever", "1.1.0").await?;
        ctx.annotate("valve", APPROVE, Some("valve.v1.0.0, valve.v1.1.0")).await?;
        comes(ctx, "valve", "1.1.0").await
    }
}

/// Each has its failed version; what the next one waits for differs.
async fn failed_versions(ctx: &TestContext) -> Result<()> {
    ctx.forward_group().await?;
    subscribe(ctx, "dial", "1.0.0", &[(PIN, "true")]).await?;
    let approved = (APPROVE, "gauge.v1.0.0, gauge.v1.1.0");
    subscribe(ctx, "gauge", "1.0.0", &[(VERSION_RANGE, "<1.1.0"), approved]).await?;
    subscribe(ctx, "lever", "1.0.0", &[(FIRST_INSTALL, "Automatic")]).await?;
    // Only now, so that all are resolved at once.
    ctx.catalog("kitchen", "kitchen").await?;
    for (name, reason) in [("dial", PINNED), ("gauge", BY_RANGE)] {
        ctx.failed(&format!("{name}.v1.0.0")).await?;
        ctx.held(name, reason).await?;
    }
    ctx.failed("lever.v1.0.0").await?;
    ctx.waits_for("lever", "lever.v1.1.0").await?;
    ctx.annotate("lever", PAUSE, Some("true")).await?;
    ctx.held("lever", PAUSED).await?;
    ctx.annotate("lever", APPROVE, Some("lever.v1.1.0")).await?;
    // Only now, so that its plans have the same numbers in each run.
    subscribe(ctx, "valve", "1.0.0", &[(APPROVE, "valve.v1.0.0")]).await?;
    ctx.failed("valve.v1.0.0").await?;
    ctx.waits_for("valve", "valve.v1.1.0").await
}

/// Two versions, of which the first cannot be installed.
fn package(name: &str) -> Package {
    let bundle = |version: &str| {
        let made = csv(&format!("{name}.v{version}"), version)
            .deployment(&format!("{name}-manager"), "default");
        let made = match version {
            "1.0.0" => made.with(|csv| csv.spec.install.strategy = "helm".to_owned()),
            _ => made,
        };
        Bundle::new(version, &made)
    };
    following(name, &["1.0.0", "1.1.0"], bundle)
}
