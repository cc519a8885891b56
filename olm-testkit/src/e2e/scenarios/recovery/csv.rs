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

use super::words::untouched;
use crate::e2e::scene::{Scene, same};
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
async fn deleted(scene: Arc<Scene>) -> Result<()> {
    scene.install("fan", &scene.kind("Fan")).await?;
    scene.delete::<ClusterServiceVersion>("fan.v1.0.0").await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "fan.v1.0.0").await?;
    wait::until_gone(&scene.api::<Deployment>(), "fan").await?;
    let pending =
        wait::until(&scene.api(), "fan", "wait for its CSV", |subscription: &Subscription| {
            let state = subscription.status.as_ref().map(|status| &status.state);
            state == Some(&SubscriptionState::UpgradePending)
        })
        .await?;
    let status = pending.status.clone().unwrap_or_default();
    same(status.current_csv.as_deref(), "fan.v1.0.0")?;
    scene.at_rest().await?;
    let plans = scene.api::<InstallPlan>().list(&ListParams::default()).await?;
    ensure!(plans.items.len() == 1, "there are {} InstallPlans", plans.items.len());

    let old = scene.plan_of(&pending).await?;
    scene.delete::<InstallPlan>(&old.name_any()).await?;
    scene.succeeded("fan.v1.0.0").await?;
    let subscription = scene.at_latest("fan", "fan.v1.0.0").await?;
    ensure!(scene.plan_of(&subscription).await?.uid() != old.uid(), "the deleted plan is back");
    scene.at_rest().await
}

/// Without its finalizer a CSV would leave cluster-scoped objects behind.
async fn finalizer_removed(scene: Arc<Scene>) -> Result<()> {
    scene.install("bin", &scene.kind("Bin")).await?;
    let edit = json!({"metadata": {"finalizers": null}});
    let edited: ClusterServiceVersion = scene.edit("bin.v1.0.0", edit).await?;
    ensure!(edited.finalizers().is_empty(), "it still has {:?}", edited.finalizers());
    wait::until(&scene.api(), "bin.v1.0.0", "have its finalizer", |csv: &ClusterServiceVersion| {
        csv.finalizers() == [finalizers::CSV_CLEANUP]
    })
    .await?;
    scene.succeeded("bin.v1.0.0").await?;
    scene.at_rest().await
}

/// A CSV without a status begins anew; its Deployment is written once more, and is the same.
async fn status_wiped(scene: Arc<Scene>) -> Result<()> {
    scene.install("tap", &scene.kind("Tap")).await?;
    let deployment: Deployment = scene.api().get("tap").await?;
    let wiped: ClusterServiceVersion = scene.edit_status("tap.v1.0.0", Value::Null).await?;
    ensure!(wiped.status.is_none(), "the status is {:?}", wiped.status);
    let csv = scene.succeeded("tap.v1.0.0").await?;
    let history = csv.status.map(|status| status.conditions).unwrap_or_default();
    let phases: Vec<CsvPhase> = history.iter().map(|past| past.phase).collect();
    ensure!(phases.first() == Some(&CsvPhase::Pending), "the history is {phases:?}");
    let after: Deployment = scene.api().get("tap").await?;
    ensure!(after.uid() == deployment.uid() && after.spec == deployment.spec, "{:?}", after.spec);
    scene.at_rest().await
}

/// The annotations that name a CSV's OperatorGroup come back, and nothing is installed again.
async fn annotations_stripped(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("mat", &scene.kind("Mat")).await?;
    let deployment: Deployment = scene.api().get("mat").await?;
    let names = [
        annotations::OPERATOR_NAMESPACE,
        annotations::OPERATOR_GROUP,
        annotations::TARGET_NAMESPACES,
    ];
    let none: Value = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    let edit = json!({"metadata": {"annotations": none}});
    scene.edit::<ClusterServiceVersion>("mat.v1.0.0", edit).await?;
    let after = wait::until(&scene.api(), "mat.v1.0.0", "name its group", |csv| {
        let of = |csv: &ClusterServiceVersion| csv.annotations().clone();
        of(csv) == of(&before)
    })
    .await?;
    ensure!(after.status == before.status, "the CSV went through other states");
    untouched(&deployment, &scene.api().get("mat").await?)?;
    scene.at_rest().await
}
