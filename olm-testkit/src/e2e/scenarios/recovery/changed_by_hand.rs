//! Objects that OLM made are changed or deleted behind its back.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Subscription,
};
use olm_types::{annotations, labels};
use serde_json::{Value, json};

use super::steps::{State, anew, operator, untouched};
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::changed_by_hand::deployment_deleted",
            "a Deployment that is deleted is made again",
            deployment_deleted,
        ),
        scenario(
            "recovery::changed_by_hand::hash_edited",
            "a Deployment whose hash is edited is written again",
            hash_edited,
        ),
        scenario(
            "recovery::changed_by_hand::owner_removed",
            "a Deployment without its owner counts as missing",
            owner_removed,
        ),
        scenario(
            "recovery::changed_by_hand::template_edited",
            "the target namespaces of a Deployment come back, its other labels stay",
            template_edited,
        ),
        scenario(
            "recovery::changed_by_hand::config_map_deleted",
            "a plan that is done stays done",
            config_map_deleted,
        ),
        scenario(
            "recovery::changed_by_hand::subscription_wiped",
            "a Subscription without a status finds its plan and its CSV again",
            subscription_wiped,
        ),
    ]
}

/// A Deployment that is deleted is made again.
async fn deployment_deleted(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("lamp", &ctx.kind("Lamp")).await?;
    let deleted: Deployment = ctx.api().get("lamp").await?;
    ctx.delete::<Deployment>("lamp").await?;
    let missing = "installing: missing deployment with name=lamp";
    let through = [
        (CsvPhase::Failed, "ComponentUnhealthy", missing),
        (CsvPhase::Pending, "NeedsReinstall", missing),
    ];
    ctx.recovered(&before, &through).await?;
    ctx.announced("lamp.v1.0.0", "ComponentUnhealthy", missing).await?;
    let made: Deployment = ctx.api().get("lamp").await.context("no Deployment")?;
    ensure!(made.uid() != deleted.uid(), "the Deployment is still the old one");
    ensure!(made.labels() == deleted.labels() && made.spec == deleted.spec, "it is another one");
    ctx.until_idle().await
}

/// The label that says for which spec a Deployment was made.
async fn hash_edited(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("desk", &ctx.kind("Desk")).await?;
    let deployment: Deployment = ctx.api().get("desk").await?;
    let hash = deployment.labels().get(labels::DEPLOYMENT_SPEC_HASH).context("no hash")?;
    let message = format!("installing: deployment changed old hash=made-up, new hash={hash}");
    let edit = json!({"metadata": {"labels": {labels::DEPLOYMENT_SPEC_HASH: "made-up"}}});
    let state = (CsvPhase::InstallReady, "ComponentUnhealthy", message.as_str());
    let after = deployment_edited(&ctx, &before, "desk", edit, state).await?;

    let edit = json!({"metadata": {"labels": {labels::DEPLOYMENT_SPEC_HASH: null}}});
    let message = "installing: deployment desk doesn't have a spec hash, update it";
    let state = (CsvPhase::InstallReady, "ComponentUnhealthy", message);
    deployment_edited(&ctx, &after, "desk", edit, state).await?;
    ctx.until_idle().await
}

/// The labels that say to whom a Deployment belongs: without them it counts as missing.
async fn owner_removed(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("rack", &ctx.kind("Rack")).await?;
    let edit = json!({"metadata": {"labels": {labels::OWNER: null}, "ownerReferences": null}});
    let message = "installing: missing deployment with name=rack";
    let state = (CsvPhase::Failed, "ComponentUnhealthy", message);
    deployment_edited(&ctx, &before, "rack", edit, state).await?;
    ctx.until_idle().await
}

/// The annotation of the pods by which an operator knows its namespaces. What OLM does not compare
/// stays until the next install (spec olm-operator 3.4); here that is a label: a user's edit of the
/// spec makes the Deployment controller act, and until it did a CSV may count as unhealthy.
async fn template_edited(ctx: Arc<TestContext>) -> Result<()> {
    let before = ctx.install("sofa", &ctx.kind("Sofa")).await?;
    let edit = json!({"metadata": {"labels": {"team": "home"}}});
    let was: Deployment = ctx.edit("sofa", edit).await?;
    let targets = |deployment: &Deployment| {
        let template = &deployment.spec.as_ref()?.template;
        let annotations = template.metadata.as_ref()?.annotations.as_ref()?;
        annotations.get(annotations::TARGET_NAMESPACES).cloned()
    };
    ensure!(targets(&was).as_ref() == Some(&ctx.namespace), "{:?}", targets(&was));
    ctx.until_idle().await?;
    untouched(&was, &ctx.api().get("sofa").await?)?;

    let template = json!({"metadata": {"annotations": {annotations::TARGET_NAMESPACES: "all"}}});
    ctx.edit::<Deployment>("sofa", json!({"spec": {"template": template}})).await?;
    wait::until(&ctx.api(), "sofa", "watch its namespace again", |deployment: &Deployment| {
        targets(deployment).as_ref() == Some(&ctx.namespace)
    })
    .await?;
    ctx.recovered(&before, &[]).await?;
    ctx.until_idle().await
}

/// Edits a Deployment; the CSV goes through a state, and the Deployment is as it was.
async fn deployment_edited(
    ctx: &TestContext,
    before: &ClusterServiceVersion,
    name: &str,
    edit: Value,
    state: State<'_>,
) -> Result<ClusterServiceVersion> {
    let was: Deployment = ctx.api().get(name).await?;
    ctx.edit::<Deployment>(name, edit).await?;
    let after = ctx.recovered(before, &[state]).await?;
    let is: Deployment = ctx.api().get(name).await?;
    ensure!(was.labels() == is.labels(), "labels are {:?}", is.labels());
    ensure!(was.owner_references() == is.owner_references(), "{:?}", is.owner_references());
    ensure!(was.spec == is.spec && was.uid() == is.uid(), "the Deployment is another one");
    Ok(after)
}

/// A plan that is done stays done: its ConfigMap is not made again, and no reconcile waits for it.
/// What the CSV requires is missed, and nothing is missed that it does not name.
async fn config_map_deleted(ctx: Arc<TestContext>) -> Result<()> {
    let crd = ctx.kind("Vase");
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "vase-settings"}, "data": {"colour": "blue"},
    });
    let bundle = Bundle::new("1.0.0", &operator("vase", &crd)).provides(&crd).manifest(settings);
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[Package::single("vase", bundle)]).await?;
    ctx.subscribe("vase", "shelf").await?;
    let subscription = ctx.at_latest("vase", "vase.v1.0.0").await?;
    let before = ctx.succeeded("vase.v1.0.0").await?;
    ctx.delete::<ConfigMap>("vase-settings").await?;
    // A binding is missed at once: by then a missed ConfigMap would have been noticed, too.
    let bindings: Api<RoleBinding> = ctx.api();
    let found = bindings.list(&ListParams::default().labels("olm.owner=vase.v1.0.0")).await?;
    let binding = found.items.into_iter().next().context("there is no RoleBinding")?;
    ctx.delete::<RoleBinding>(&binding.name_any()).await?;
    let unmet = "one or more requirements couldn't be found";
    ctx.is("vase.v1.0.0", (CsvPhase::Pending, "RequirementsNotMet", unmet)).await?;
    ctx.create(&anew(binding)).await?;
    ctx.recovered(&before, &[]).await?;
    ensure!(ctx.api::<ConfigMap>().get_opt("vase-settings").await?.is_none(), "it is back");
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    let phases: Vec<_> =
        plans.iter().filter_map(|plan| Some(plan.status.as_ref()?.phase)).collect();
    ensure!(phases == [InstallPlanPhase::Complete], "InstallPlans are {phases:?}");
    let plan =
        |subscription: Subscription| subscription.status.and_then(|status| status.install_plan_ref);
    let now = ctx.at_latest("vase", "vase.v1.0.0").await?;
    ensure!(plan(now) == plan(subscription), "the Subscription points at another plan");
    ctx.until_idle().await
}

/// A Subscription that has forgotten everything finds its plan and its CSV again.
async fn subscription_wiped(ctx: Arc<TestContext>) -> Result<()> {
    let csv = ctx.install("rug", &ctx.kind("Rug")).await?;
    let before = ctx.at_latest("rug", "rug.v1.0.0").await?;
    ctx.edit_status::<Subscription>("rug", Value::Null).await?;
    let after = ctx.at_latest("rug", "rug.v1.0.0").await?;
    ensure!(ctx.plan_of(&after).await?.uid() == ctx.plan_of(&before).await?.uid());
    let generation =
        |subscription: &Subscription| subscription.status.as_ref()?.install_plan_generation;
    ensure!(generation(&after) == generation(&before), "{:?}", generation(&after));
    untouched(&csv, &ctx.succeeded("rug.v1.0.0").await?)?;
    ctx.until_idle().await
}
