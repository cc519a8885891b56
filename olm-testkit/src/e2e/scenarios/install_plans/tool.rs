//! Plans as tools write them: an object, then a status with steps, and no CSVs in the spec.

use anyhow::{Context, Result};
use kube::api::{Patch, PatchParams};
use olm_types::api::{InstallPlan, InstallPlanPhase};
use serde_json::{Value, json};

use super::is_in;
use crate::e2e::context::TestContext;
use crate::wait;

/// A step that brings an object, for a CSV or for none.
pub(super) fn step(kind: &str, name: &str, manifest: &str, resolving: &str) -> Value {
    json!({"resolving": resolving, "status": "Unknown", "resource": {
        "group": "", "version": "v1", "kind": kind, "name": name, "manifest": manifest,
        "sourceName": "", "sourceNamespace": "",
    }})
}

/// Writes a plan with these steps, which is to be executed.
pub(super) async fn write(ctx: &TestContext, name: &str, steps: &[Value]) -> Result<()> {
    begun(ctx, name, steps, None).await
}

/// Writes a plan with these steps that has been tried for longer than steps are tried again.
pub(super) async fn write_late(ctx: &TestContext, name: &str, steps: &[Value]) -> Result<()> {
    begun(ctx, name, steps, Some("1970-01-01T00:00:00Z")).await
}

/// Waits until a plan is done.
pub(super) async fn complete(ctx: &TestContext, name: &str) -> Result<InstallPlan> {
    let done = |plan: &InstallPlan| is_in(plan, InstallPlanPhase::Complete);
    wait::until(&ctx.api(), name, "be complete", done).await
}

async fn begun(ctx: &TestContext, name: &str, steps: &[Value], start: Option<&str>) -> Result<()> {
    let plan: InstallPlan = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
    }))?;
    ctx.create(&plan).await?;
    let status =
        json!({"phase": "Installing", "catalogSources": [], "startTime": start, "plan": steps});
    let patch = Patch::Merge(json!({ "status": status }));
    let plans = ctx.api::<InstallPlan>();
    let written = plans.patch_status(name, &PatchParams::default(), &patch).await;
    written.map(drop).context("the plan gets no status")
}
