//! A rolling update of OLM itself: new replicas start before old ones end, one operator after the
//! other, while an operator is upgraded. And what a Deployment without election has for a moment:
//! the old Pod and the new one at work at the same time.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::api::ListParams;
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::{Flags, Local};
use olm_testkit::operators::Operator;
use olm_types::api::InstallPlan;

use crate::faults::install_and_upgrade;

/// As `deploy/ha` has it, and as on OpenShift.
pub const FLAGS: Flags<'static> = Flags {
    both: &[LEADER_ELECT, "--writeStatusName=operator-lifecycle-manager"],
    catalog: &["--writeStatusName=operator-lifecycle-manager-catalog"],
    faults: false,
};

/// The upgrade ends as if nothing had happened.
pub async fn update(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    install_and_upgrade::begin(&ctx).await?;
    install_and_upgrade::publish(&ctx).await?;
    for operator in Operator::ALL {
        local.roll_operator(operator).await?;
    }
    install_and_upgrade::arrive(&ctx).await?;
    // The packages API is served again, without which no namespace could be deleted.
    local.replace_operator(Operator::Catalog).await?;
    install_and_upgrade::check_end(&ctx).await
}

/// Upgrades that two programs see at the same time.
const VERSIONS: u32 = 6;

/// Two catalog-operators follow one Subscription through its channel: each version has one plan.
pub async fn two_at_work(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let mut second = local.start_beside(Operator::Catalog).await?;
    ctx.operator_group().await?;
    ctx.catalog("shop", &[clocks()]).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "clock", "stable", "shop");
    subscription.spec.starting_csv = Some(name(1));
    ctx.create(&subscription).await?;
    ctx.at_latest("clock", &name(VERSIONS)).await?;
    ctx.succeeded(&name(VERSIONS)).await?;
    second.check()?;
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?.items;
    let mut made: Vec<(Option<i64>, String)> = plans
        .into_iter()
        .map(|plan| (plan.spec.generation, plan.spec.cluster_service_version_names.join(" ")))
        .collect();
    made.sort();
    // Five are kept.
    let expected: Vec<_> =
        (2..=VERSIONS).map(|version| (Some(i64::from(version)), name(version))).collect();
    ensure!(made == expected, "the plans are {made:?}");
    second.stop();
    Ok(())
}

fn clocks() -> Package {
    let versions = (1..=VERSIONS).map(|version| {
        let csv = csv(&name(version), &format!("{version}.0.0")).deployment("clock", "default");
        let bundle = Bundle::new(&format!("{version}.0.0"), &csv);
        if version > 1 { bundle.replaces(&name(version - 1)) } else { bundle }
    });
    Package::new("clock").channel("stable", versions.collect())
}

fn name(version: u32) -> String {
    format!("clock.v{version}.0.0")
}
