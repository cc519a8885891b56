//! A namespace needs exactly one OperatorGroup; what is wrong is said, and heals by itself.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::{CsvPhase, InstallPlan, OperatorGroup};

use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "operator_groups::none",
            "without an OperatorGroup a CSV fails and no plan is made",
            none,
        ),
        scenario(
            "operator_groups::two",
            "with two OperatorGroups a CSV fails, with one of them gone it goes on",
            two,
        ),
    ]
}

/// Without a group a CSV fails and no plan is made; with one both go on.
async fn none(ctx: Arc<TestContext>) -> Result<()> {
    let bundle =
        Bundle::new("1.0.0", &csv("wanted.v1.0.0", "1.0.0").deployment("wanted", "default"));
    ctx.catalog("catalog", &[Package::single("wanted", bundle)]).await?;
    ctx.subscribe("wanted", "catalog").await?;
    ctx.create(&csv("lonely.v1.0.0", "1.0.0").deployment("lonely", "default").build()).await?;
    let failed = ctx.csv_phase("lonely.v1.0.0", CsvPhase::Failed, "NoOperatorGroup").await?;
    let message = failed.status.and_then(|status| status.message);
    same(message.as_deref(), "csv in namespace with no operatorgroups")?;
    let plans: Api<InstallPlan> = ctx.api();
    let made = plans.list(&ListParams::default()).await.context("cannot list InstallPlans")?;
    ensure!(made.items.is_empty(), "there is an InstallPlan without an OperatorGroup");
    ctx.operator_group().await?;
    ctx.succeeded("lonely.v1.0.0").await?;
    ctx.succeeded("wanted.v1.0.0").await.map(drop)
}

/// With two groups a CSV fails; with one of them gone it goes on.
async fn two(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let second = builders::operator_group(&ctx.namespace, "second", &[&ctx.namespace]);
    ctx.create(&second).await?;
    ctx.create(&csv("torn.v1.0.0", "1.0.0").deployment("torn", "default").build()).await?;
    let failed = ctx.csv_phase("torn.v1.0.0", CsvPhase::Failed, "TooManyOperatorGroups").await?;
    let message = failed.status.and_then(|status| status.message);
    same(
        message.as_deref(),
        "csv created in namespace with multiple operatorgroups, can't pick one automatically",
    )?;
    let groups: Api<OperatorGroup> = ctx.api();
    groups.delete("second", &DeleteParams::default()).await.context("cannot delete a group")?;
    ctx.succeeded("torn.v1.0.0").await.map(drop)
}
