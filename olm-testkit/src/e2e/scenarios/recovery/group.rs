//! The OperatorGroup of a running operator goes, or gets a second one beside it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::{CsvPhase, OperatorGroup};

use super::steps::{State, untouched};
use crate::builders;
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::group::deleted",
            "without its group a CSV says so and its Deployment runs on",
            deleted,
        ),
        scenario(
            "recovery::group::a_second_one",
            "two groups are one too many, and both say so",
            a_second_one,
        ),
    ]
}

/// How a CSV goes on once its namespace has one group.
const GOES_ON: State<'static> =
    (CsvPhase::Pending, "RequirementsUnknown", "InstallModes now support target namespaces");

/// Without a group the CSV says so and its Deployment runs on; with a new one all is as before.
async fn deleted(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("key", &ctx.kind("Key")).await?;
    let deployment: Deployment = ctx.api().get("key").await?;
    ctx.delete::<OperatorGroup>("group").await?;
    let failed = (CsvPhase::Failed, "NoOperatorGroup", "csv in namespace with no operatorgroups");
    ctx.is("key.v1.0.0", failed).await?;
    ctx.announced("key.v1.0.0", "NoOperatorGroup", failed.2).await?;
    untouched(&deployment, &ctx.api().get("key").await?)?;
    ctx.operator_group().await?;
    ctx.recovered(&before, &[failed, GOES_ON]).await?;
    ctx.at_latest("key", "key.v1.0.0").await?;
    ctx.until_idle().await
}

/// Two groups are one too many, and both say so.
async fn a_second_one(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("nut", &ctx.kind("Nut")).await?;
    let deployment: Deployment = ctx.api().get("nut").await?;
    let second = builders::operator_group(&ctx.namespace, "second", &[&ctx.namespace]);
    ctx.create(&second).await?;
    let failed = (
        CsvPhase::Failed,
        "TooManyOperatorGroups",
        "csv created in namespace with multiple operatorgroups, can't pick one automatically",
    );
    ctx.is("nut.v1.0.0", failed).await?;
    ctx.announced("nut.v1.0.0", "TooManyOperatorGroups", failed.2).await?;
    says_that_there_are_several(&ctx, "group", true).await?;
    says_that_there_are_several(&ctx, "second", true).await?;
    untouched(&deployment, &ctx.api().get("nut").await?)?;
    ctx.delete::<OperatorGroup>("second").await?;
    says_that_there_are_several(&ctx, "group", false).await?;
    ctx.recovered(&before, &[failed, GOES_ON]).await?;
    ctx.at_latest("nut", "nut.v1.0.0").await?;
    ctx.until_idle().await
}

async fn says_that_there_are_several(ctx: &TestContext, group: &str, several: bool) -> Result<()> {
    let what = format!("say that there are several groups: {several}");
    let group = wait::until(&ctx.api(), group, &what, |group: &OperatorGroup| {
        let mut conditions = group.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|c| c.type_ == "MultipleOperatorGroup" && c.status == "True") == several
    })
    .await?;
    ensure!(group.status.is_some_and(|status| !status.namespaces.is_empty()));
    Ok(())
}
