//! A plan of a namespace that an operator of another one reaches: its copy has the name of the CSV.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase, OperatorGroup};
use olm_types::labels::COPIED_FROM;
use serde_json::json;

use super::{is_in, message, plan};
use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::TestContext;
use crate::wait;

const CSV: &str = "kettle.v1.0.0";

/// The plan names the copy and the namespace of the original, fails in time, and goes on once the copy is gone.
pub(super) async fn in_the_way(ctx: Arc<TestContext>) -> Result<()> {
    let kitchen = ctx.beside("install_plans::a_copy_in_the_way::kitchen").await?;
    let targets = [kitchen.namespace.as_str(), ctx.namespace.as_str()];
    kitchen.create(&builders::operator_group(&kitchen.namespace, "group", &targets)).await?;
    subscribe(&kitchen).await?;
    kitchen.succeeded(CSV).await?;
    let is_copy = |csv: &ClusterServiceVersion| csv.labels().contains_key(COPIED_FROM);
    wait::until(&ctx.api(), CSV, "be a copy", is_copy).await?;

    ctx.operator_group().await?;
    subscribe(&ctx).await?;
    let expected = format!(
        "namespace {} holds a copy of {CSV}, which is installed in namespace {}",
        ctx.namespace, kitchen.namespace
    );
    let says = |plan: &InstallPlan| message(plan).contains(&expected);
    let stopped = plan(&ctx, "say whose copy is in the way", says).await?;
    ensure!(!is_in(&stopped, InstallPlanPhase::Complete), "the plan is complete: {stopped:?}");
    // Its time to be tried is over.
    let long_ago = json!({"startTime": "1970-01-01T00:00:00Z"});
    ctx.edit_status::<InstallPlan>(&stopped.name_any(), long_ago).await?;
    let failed = |plan: &InstallPlan| is_in(plan, InstallPlanPhase::Failed);
    let failed = plan(&ctx, "fail over the copy", failed).await?;
    ensure!(message(&failed).starts_with(&expected), "{}", message(&failed));

    leave_out(&kitchen).await?;
    let own = ctx.succeeded(CSV).await?;
    ensure!(!is_copy(&own), "the CSV that succeeds is the copy");
    ctx.at_latest("kettle", CSV).await?;
    let name = failed.name_any();
    let complete = |plan: &InstallPlan| is_in(plan, InstallPlanPhase::Complete);
    wait::until(&ctx.api(), &name, "be complete after it has failed", complete).await?;
    kitchen.remove().await
}

/// Subscribes to the same operator in any namespace. It owns no kind, which two of them would contend for.
async fn subscribe(ctx: &TestContext) -> Result<()> {
    let bundle = Bundle::new("1.0.0", &csv(CSV, "1.0.0").deployment("kettle", "default"));
    ctx.catalog("kitchen", &[Package::single("kettle", bundle)]).await?;
    ctx.subscribe("kettle", "kitchen").await
}

/// The group of the other namespace selects that alone.
async fn leave_out(kitchen: &TestContext) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"targetNamespaces": [kitchen.namespace]}}));
    let groups = kitchen.api::<OperatorGroup>();
    let changed = groups.patch("group", &PatchParams::default(), &patch).await;
    changed.map(drop).context("cannot change the group")
}
