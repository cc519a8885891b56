//! InstallPlans that a user makes (docs/differences.md).

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use olm_types::api::{Approval, InstallPlan, InstallPlanPhase, InstallPlanSpec, Subscription};
use serde_json::json;

use super::{event, is_in, plan};
use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::TestContext;

/// The CSV that is named, its kind, and the provider of what it requires; nothing before the
/// approval.
pub(super) async fn a_users_plan(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let stove = ctx.kind("Stove");
    let pot = ctx.kind("Pot");
    let provider = csv("stove.v1.0.0", "1.0.0").deployment("stove", "default").owns(&stove);
    let operator =
        csv("pot.v1.0.0", "1.0.0").deployment("pot", "default").owns(&pot).requires(&stove);
    let packages = [
        Package::single("stove", Bundle::new("1.0.0", &provider).provides(&stove)),
        Package::single("pot", Bundle::new("1.0.0", &operator).provides(&pot).requires(&stove)),
    ];
    ctx.catalog("kitchen", &packages).await?;
    make(&ctx, "unknown.v1.0.0").await?;
    make(&ctx, "pot.v1.0.0").await?;
    let plan =
        plan(&ctx, "wait for approval", |plan| is_in(plan, InstallPlanPhase::RequiresApproval))
            .await?;
    check_steps(&plan)?;
    approve(&ctx, &plan).await?;
    ctx.succeeded("stove.v1.0.0").await?;
    ctx.succeeded("pot.v1.0.0").await?;
    let subscriptions = ctx.api::<Subscription>().list(&ListParams::default()).await?.items;
    ensure!(subscriptions.is_empty(), "there are Subscriptions that were not asked for");
    check_unknown(&ctx).await
}

async fn make(ctx: &TestContext, csv: &str) -> Result<()> {
    let spec = InstallPlanSpec {
        cluster_service_version_names: vec![csv.to_owned()],
        approval: Approval::Manual,
        ..InstallPlanSpec::default()
    };
    let name = format!("mine-{}", csv.split('.').next().unwrap_or_default());
    let mut plan = InstallPlan::new(&name, spec);
    plan.metadata.namespace = Some(ctx.namespace.clone());
    ctx.create(&plan).await.map(drop)
}

async fn approve(ctx: &TestContext, plan: &InstallPlan) -> Result<()> {
    let approve = Patch::Merge(json!({"spec": {"approved": true}}));
    let plans = ctx.api::<InstallPlan>();
    plans.patch(&plan.name_any(), &PatchParams::default(), &approve).await?;
    Ok(())
}

fn check_steps(plan: &InstallPlan) -> Result<()> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let mut names: Vec<_> = steps
        .filter(|step| {
            ["ClusterServiceVersion", "CustomResourceDefinition", "Subscription"]
                .contains(&step.resource.kind.as_str())
        })
        .map(|step| step.resource.name.split('.').next().unwrap_or_default())
        .collect();
    names.sort_unstable();
    ensure!(names == ["pot", "pots", "stove", "stoves"], "{names:?}");
    Ok(())
}

/// A name that no catalog has is reported, and the plan is left as it is.
async fn check_unknown(ctx: &TestContext) -> Result<()> {
    let plan: InstallPlan = ctx.api().get("mine-unknown").await?;
    ensure!(plan.status.is_none_or(|status| status.plan.is_empty()), "unknown.v1.0.0 has steps");
    let text = "the CSVs that the plan names cannot be resolved: no catalog that the namespace sees has a bundle unknown.v1.0.0";
    event(ctx, "say what is unknown", |event| event.message.as_deref() == Some(text)).await
}
