//! Steps of these scenarios.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams};
use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionCondition, CsvPhase};
use serde_json::{Value, json};

use crate::builders::{CsvBuilder, csv};
use crate::e2e::TestContext;
use crate::wait;

/// An operator with one Deployment of its name.
pub(super) fn operator(name: &str) -> CsvBuilder {
    csv(name, "1.0.0").deployment(name, "default")
}

/// Waits for a phase with its reason, and returns the message.
pub(super) async fn message(
    ctx: &TestContext,
    name: &str,
    phase: CsvPhase,
    reason: &str,
) -> Result<String> {
    let csv = ctx.csv_phase(name, phase, reason).await?;
    csv.status.and_then(|status| status.message).context("there is no message")
}

/// Waits until a phase with its reason is over, and returns how it was.
pub(super) async fn went_through(
    ctx: &TestContext,
    name: &str,
    phase: CsvPhase,
    reason: &str,
) -> Result<ClusterServiceVersionCondition> {
    let is_it = |past: &&ClusterServiceVersionCondition| {
        past.phase == phase && past.reason.as_deref() == Some(reason)
    };
    let what = format!("have been {phase}/{reason}");
    let csv = wait::until(&ctx.api(), name, &what, |csv: &ClusterServiceVersion| {
        csv.status.iter().flat_map(|status| &status.conditions).any(|past| is_it(&past))
    })
    .await?;
    let mut conditions = csv.status.iter().flat_map(|status| &status.conditions);
    conditions.find(is_it).cloned().context("the condition is gone")
}

/// Gives a CSV another spec.
pub(super) async fn respec(ctx: &TestContext, csv: &CsvBuilder) -> Result<()> {
    let manifest = ctx.dressed(csv.manifest());
    let name = manifest.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    patch_csv(ctx, name, json!({"spec": manifest.get("spec")})).await
}

/// Changes a CSV by a merge patch.
pub(super) async fn patch_csv(ctx: &TestContext, name: &str, patch: Value) -> Result<()> {
    let csvs = ctx.api::<ClusterServiceVersion>();
    let patched = csvs.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    patched.map(drop).with_context(|| format!("cannot change the CSV {name}"))
}

/// Changes a Deployment by a merge patch.
pub(super) async fn patch_deployment(ctx: &TestContext, name: &str, patch: Value) -> Result<()> {
    let deployments = ctx.api::<Deployment>();
    let patched = deployments.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    patched.map(drop).with_context(|| format!("cannot change the Deployment {name}"))
}
