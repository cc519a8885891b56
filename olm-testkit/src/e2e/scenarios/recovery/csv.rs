//! A CSV is changed or deleted behind OLM's back.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, Subscription, SubscriptionState,
};
use olm_types::{annotations, finalizers};
use serde_json::{Value, json};

use super::steps::untouched;
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::csv::deleted",
            "a CSV that is deleted comes back with a new plan only",
            deleted,
        ),
        scenario(
            "recovery::csv::finalizer_removed",
            "a CSV gets its finalizer back",
            finalizer_removed,
        ),
        scenario("recovery::csv::status_wiped", "a CSV without a status begins anew", status_wiped),
        scenario(
            "recovery::csv::annotations_stripped",
            "the annotations that name a CSV's group come back",
            annotations_stripped,
        ),
    ]
}

/// A CSV that is deleted while its Subscription remains is not installed again by itself: whoever
/// deleted it wanted that. The Subscription says that it waits; without its plan it gets another.
async fn deleted(ctx: Arc<TestContext>) -> Result<()> {
    ctx.install("fan", &ctx.kind("Fan")).await?;
    ctx.delete::<ClusterServiceVersion>("fan.v1.0.0").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "fan.v1.0.0").await?;
    wait::until_gone(&ctx.api::<Deployment>(), "fan").await?;
    let pending =
        wait::until(&ctx.api(), "fan", "wait for its CSV", |subscription: &Subscription| {
            let state = subscription.status.as_ref().map(|status| &status.state);
            state == Some(&SubscriptionState::UpgradePending)
        })
        .await?;
    let status = pending.status.clone().unwrap_or_default();
    same(status.current_csv.as_deref(), "fan.v1.0.0")?;
    ctx.until_idle().await?;
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    ensure!(plans.items.len() == 1, "there are {} InstallPlans", plans.items.len());

    let old = ctx.plan_of(&pending).await?;
    ctx.delete::<InstallPlan>(&old.name_any()).await?;
    ctx.succeeded("fan.v1.0.0").await?;
    let subscription = ctx.at_latest("fan", "fan.v1.0.0").await?;
    ensure!(ctx.plan_of(&subscription).await?.uid() != old.uid(), "the deleted plan is back");
    ctx.until_idle().await
}

/// Without its finalizer a CSV would leave cluster-scoped objects behind.
async fn finalizer_removed(ctx: Arc<TestContext>) -> Result<()> {
    ctx.install("bin", &ctx.kind("Bin")).await?;
    let edit = json!({"metadata": {"finalizers": null}});
    let edited: ClusterServiceVersion = ctx.edit("bin.v1.0.0", edit).await?;
    ensure!(edited.finalizers().is_empty(), "it still has {:?}", edited.finalizers());
    wait::until(&ctx.api(), "bin.v1.0.0", "have its finalizer", |csv: &ClusterServiceVersion| {
        csv.finalizers() == [finalizers::CSV_CLEANUP]
    })
    .await?;
    ctx.succeeded("bin.v1.0.0").await?;
    ctx.until_idle().await
}

/// A CSV without a status begins anew; its Deployment is written once more, and is the same.
async fn status_wiped(ctx: Arc<TestContext>) -> Result<()> {
    ctx.install("tap", &ctx.kind("Tap")).await?;
    let deployment: Deployment = ctx.api().get("tap").await?;
    let wiped: ClusterServiceVersion = ctx.edit_status("tap.v1.0.0", Value::Null).await?;
    ensure!(wiped.status.is_none(), "the status is {:?}", wiped.status);
    let csv = ctx.succeeded("tap.v1.0.0").await?;
    let history = csv.status.map(|status| status.conditions).unwrap_or_default();
    let phases: Vec<CsvPhase> = history.iter().map(|past| past.phase).collect();
    ensure!(phases.first() == Some(&CsvPhase::Pending), "the history is {phases:?}");
    let after: Deployment = ctx.api().get("tap").await?;
    ensure!(after.uid() == deployment.uid() && after.spec == deployment.spec, "{:?}", after.spec);
    ctx.until_idle().await
}

/// The annotations that name a CSV's OperatorGroup come back, and nothing is installed again.
async fn annotations_stripped(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("mat", &ctx.kind("Mat")).await?;
    let deployment: Deployment = ctx.api().get("mat").await?;
    let names = [
        annotations::OPERATOR_NAMESPACE,
        annotations::OPERATOR_GROUP,
        annotations::TARGET_NAMESPACES,
    ];
    let none: Value = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    let edit = json!({"metadata": {"annotations": none}});
    ctx.edit::<ClusterServiceVersion>("mat.v1.0.0", edit).await?;
    let after = wait::until(&ctx.api(), "mat.v1.0.0", "name its group", |csv| {
        let of = |csv: &ClusterServiceVersion| csv.annotations().clone();
        of(csv) == of(&before)
    })
    .await?;
    ensure!(after.status == before.status, "the CSV went through other states");
    untouched(&deployment, &ctx.api().get("mat").await?)?;
    ctx.until_idle().await
}
