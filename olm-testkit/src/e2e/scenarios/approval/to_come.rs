//! A next version that is there while the plan of the first one still brings a dependency.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::ResourceExt;
use olm_types::api::ClusterServiceVersion;

use super::{NEW, OLD, apart, approve, waiting_plan};
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::{refusal, wait};

/// The dependency, whose CSV comes after that of the operator: bundles are in the order of their packages.
const LID: &str = "lid.v1.0.0";

/// The dependency's CSV is refused for a while, so that only the CSV of the operator is there: the plan of the next
/// version is made when both are, and does not bring the dependency once more.
pub(super) async fn a_dependency(ctx: Arc<TestContext>) -> Result<()> {
    let (kettles, lids) = (ctx.kind("Kettle"), ctx.kind("Lid"));
    let kettle = |version: &str| {
        let csv = operator("kettle", version, &kettles).requires(&lids);
        Bundle::new(version, &csv).provides(&kettles).requires(&lids)
    };
    let versions = vec![kettle("1.0.0"), kettle("1.1.0").replaces(OLD)];
    let lid = Bundle::new("1.0.0", &operator("lid", "1.0.0", &lids)).provides(&lids);
    ctx.operator_group().await?;
    refusal::refuse(&ctx.client, &ctx.namespace, LID).await?;
    let packages =
        [Package::new("kettle").channel("stable", versions), Package::single("lid", lid)];
    ctx.catalog("kitchen", &packages).await?;
    let mut subscription = apart::manual(&ctx, "kettle");
    subscription.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&subscription).await?;

    let first = apart::waiting(&ctx, "kettle").await?;
    let names = &first.spec.cluster_service_version_names;
    ensure!(names.iter().any(|csv| csv == LID), "the plan is for {names:?}");
    approve(&ctx, &first).await?;
    wait::until(&ctx.api(), OLD, "be there", |_: &ClusterServiceVersion| true).await?;
    let tried = refusal::tried(&ctx.api()).await?;
    ensure!(tried.name_any() == first.name_any(), "another plan is tried: {}", tried.name_any());
    refusal::accept(&ctx.client, &ctx.namespace).await?;
    // It names the new version alone.
    let next = waiting_plan(&ctx, NEW, 2).await?;
    ctx.succeeded(LID).await?;
    ctx.succeeded(OLD).await?;
    approve(&ctx, &next).await?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await.map(drop)
}
