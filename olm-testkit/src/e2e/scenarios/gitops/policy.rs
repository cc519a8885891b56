//! OperatorPolicy of Open Cluster Management, which approves by the versions that it names.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::api::{Approval, ClusterServiceVersion, InstallPlan, Subscription};
use serde_json::json;

use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::TestContext;
use crate::wait;

/// What the policy lets in.
const VERSIONS: [&str; 2] = ["kettle.v1.0.0", "kettle.v1.1.0"];

/// The policy approves plans of its own Subscription, and none that brings another version; its sibling, of which it
/// knows nothing, waits.
pub(super) async fn approves_its_own(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &[package("kettle"), package("jug")]).await?;
    for name in ["kettle", "jug"] {
        let mut manual = builders::subscription(&ctx.namespace, name, "stable", "kitchen");
        manual.spec.install_plan_approval = Some(Approval::Manual);
        manual.spec.starting_csv = Some(format!("{name}.v1.0.0"));
        ctx.create(&manual).await?;
    }
    for csv in VERSIONS {
        ensure!(acts(&ctx, csv).await?, "it does not approve {csv}");
        ctx.succeeded(csv).await?;
        ctx.installed("kettle", csv).await?;
    }
    ensure!(!acts(&ctx, "kettle.v1.2.0").await?, "it approves another version");
    ctx.until_idle().await?;
    let jug: Subscription = ctx.api().get("jug").await?;
    let plan = ctx.plan_of(&jug).await?;
    ensure!(plan.waits_for_approval(), "the sibling's plan is approved: {:?}", plan.spec);
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    let names: Vec<String> = csvs.iter().map(ResourceExt::name_any).collect();
    ensure!(names == ["kettle.v1.1.0"], "there is {names:?}");
    Ok(())
}

/// As the policy acts once its Subscription moves to a CSV: it approves the plan that the Subscription refers to when
/// all that the plan brings is among its versions. Whether it did.
async fn acts(ctx: &TestContext, csv: &str) -> Result<bool> {
    let moves = |one: &Subscription| {
        let status = one.status.as_ref();
        status.is_some_and(|status| status.current_csv.as_deref() == Some(csv))
    };
    let own = wait::until(&ctx.api(), "kettle", &format!("move to {csv}"), moves).await?;
    let plan = ctx.plan_of(&own).await?;
    let brought = &plan.spec.cluster_service_version_names;
    ensure!(brought == &[csv], "the plan brings {brought:?}");
    let is_allowed = brought.iter().all(|csv| VERSIONS.contains(&csv.as_str()));
    if is_allowed {
        ensure!(!plan.spec.approved, "{csv} is approved already");
        ctx.edit::<InstallPlan>(&plan.name_any(), json!({"spec": {"approved": true}})).await?;
    }
    Ok(is_allowed)
}

/// Three versions, each of which replaces the one before.
fn package(name: &str) -> Package {
    let bundle = |version: &str| {
        let made = csv(&format!("{name}.v{version}"), version).deployment(name, "default");
        Bundle::new(version, &made)
    };
    let next = |version: &str, before: &str| bundle(version).replaces(&format!("{name}.v{before}"));
    let versions = vec![bundle("1.0.0"), next("1.1.0", "1.0.0"), next("1.2.0", "1.1.0")];
    Package::new(name).channel("stable", versions)
}
