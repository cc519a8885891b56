//! A CSV of the scenario that the API server refuses for a while.

use anyhow::Result;
use olm_types::api::InstallPlan;

use crate::e2e::context::TestContext;
use crate::refusal;

/// Has the API server refuse a CSV from now on.
pub(super) async fn refuse(ctx: &TestContext, csv: &str) -> Result<()> {
    refusal::refuse(&ctx.client, &ctx.namespace, csv).await
}

/// Has it refuse nothing any more.
pub(super) async fn accept(ctx: &TestContext) -> Result<()> {
    refusal::accept(&ctx.client, &ctx.namespace).await
}

/// Waits until a plan says that a CSV of it is refused.
pub(super) async fn tried(ctx: &TestContext) -> Result<InstallPlan> {
    refusal::tried(&ctx.api()).await
}

/// Has a plan fail that was refused a CSV.
pub(super) async fn fail(ctx: &TestContext, plan: &InstallPlan) -> Result<InstallPlan> {
    refusal::fail(&ctx.api(), plan).await
}
