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

use super::words::{State, anew, operator, untouched};
use crate::builders::{Bundle, Package};
use crate::e2e::scene::Scene;
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
            "the target namespaces of a Deployment come back, other edits stay",
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
async fn deployment_deleted(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("lamp", &scene.kind("Lamp")).await?;
    let deleted: Deployment = scene.api().get("lamp").await?;
    scene.delete::<Deployment>("lamp").await?;
    let missing = "installing: missing deployment with name=lamp";
    let through = [
        (CsvPhase::Failed, "ComponentUnhealthy", missing),
        (CsvPhase::Pending, "NeedsReinstall", missing),
    ];
    scene.recovered(&before, &through).await?;
    scene.announced("lamp.v1.0.0", "ComponentUnhealthy", missing).await?;
    let made: Deployment = scene.api().get("lamp").await.context("no Deployment")?;
    ensure!(made.uid() != deleted.uid(), "the Deployment is still the old one");
    ensure!(made.labels() == deleted.labels() && made.spec == deleted.spec, "it is another one");
    scene.at_rest().await
}

/// The label that says for which spec a Deployment was made.
async fn hash_edited(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("desk", &scene.kind("Desk")).await?;
    let deployment: Deployment = scene.api().get("desk").await?;
    let hash = deployment.labels().get(labels::DEPLOYMENT_SPEC_HASH).context("no hash")?;
    let message = format!("installing: deployment changed old hash=made-up, new hash={hash}");
    let edit = json!({"metadata": {"labels": {labels::DEPLOYMENT_SPEC_HASH: "made-up"}}});
    let state = (CsvPhase::InstallReady, "ComponentUnhealthy", message.as_str());
    let after = deployment_edited(&scene, &before, "desk", edit, state).await?;

    let edit = json!({"metadata": {"labels": {labels::DEPLOYMENT_SPEC_HASH: null}}});
    let message = "installing: deployment desk doesn't have a spec hash, update it";
    let state = (CsvPhase::InstallReady, "ComponentUnhealthy", message);
    deployment_edited(&scene, &after, "desk", edit, state).await?;
    scene.at_rest().await
}

/// The labels that say to whom a Deployment belongs: without them it counts as missing.
async fn owner_removed(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("rack", &scene.kind("Rack")).await?;
    let edit = json!({"metadata": {"labels": {labels::OWNER: null}, "ownerReferences": null}});
    let message = "installing: missing deployment with name=rack";
    let state = (CsvPhase::Failed, "ComponentUnhealthy", message);
    deployment_edited(&scene, &before, "rack", edit, state).await?;
    scene.at_rest().await
}

/// The annotation of the pods by which an operator knows its namespaces. What else is in a
/// Deployment's spec may be edited, and stays (spec olm-operator 3.4).
async fn template_edited(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("sofa", &scene.kind("Sofa")).await?;
    // A Pod that takes its time makes a CSV install its Deployments anew, as they were.
    if scene.facts().no_containers.is_some() {
        scale(&scene, "sofa", 2).await?;
    }
    let was: Deployment = scene.api().get("sofa").await?;
    let targets = |deployment: &Deployment| {
        let template = &deployment.spec.as_ref()?.template;
        let annotations = template.metadata.as_ref()?.annotations.as_ref()?;
        annotations.get(annotations::TARGET_NAMESPACES).cloned()
    };
    ensure!(targets(&was).as_ref() == Some(&scene.namespace), "{:?}", targets(&was));
    let template = json!({"metadata": {"annotations": {annotations::TARGET_NAMESPACES: "all"}}});
    scene.edit::<Deployment>("sofa", json!({"spec": {"template": template}})).await?;
    wait::until(&scene.api(), "sofa", "watch its namespace again", |deployment: &Deployment| {
        targets(deployment).as_ref() == Some(&scene.namespace)
    })
    .await?;
    scene.recovered(&before, &[]).await?;
    scene.at_rest().await
}

async fn scale(scene: &Scene, name: &str, replicas: i32) -> Result<()> {
    scene.edit::<Deployment>(name, json!({"spec": {"replicas": replicas}})).await?;
    let ready = |deployment: &Deployment| {
        deployment.status.as_ref().and_then(|status| status.ready_replicas) == Some(replicas)
    };
    wait::until(&scene.api(), name, "have the Pods it was scaled to", ready).await.map(drop)
}

/// Edits a Deployment; the CSV goes through a state, and the Deployment is as it was.
async fn deployment_edited(
    scene: &Scene,
    before: &ClusterServiceVersion,
    name: &str,
    edit: Value,
    state: State<'_>,
) -> Result<ClusterServiceVersion> {
    let was: Deployment = scene.api().get(name).await?;
    scene.edit::<Deployment>(name, edit).await?;
    let after = scene.recovered(before, &[state]).await?;
    let is: Deployment = scene.api().get(name).await?;
    ensure!(was.labels() == is.labels(), "labels are {:?}", is.labels());
    ensure!(was.owner_references() == is.owner_references(), "{:?}", is.owner_references());
    ensure!(was.spec == is.spec && was.uid() == is.uid(), "the Deployment is another one");
    Ok(after)
}

/// A plan that is done stays done: its ConfigMap is not made again, and no reconcile waits for it.
/// What the CSV requires is missed, and nothing is missed that it does not name.
async fn config_map_deleted(scene: Arc<Scene>) -> Result<()> {
    let crd = scene.kind("Vase");
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "vase-settings"}, "data": {"colour": "blue"},
    });
    let bundle = Bundle::new("1.0.0", &operator("vase", &crd)).provides(&crd).manifest(settings);
    scene.operator_group().await?;
    scene.catalog("shelf", &[Package::single("vase", bundle)]).await?;
    scene.subscribe("vase", "shelf").await?;
    let subscription = scene.at_latest("vase", "vase.v1.0.0").await?;
    let before = scene.succeeded("vase.v1.0.0").await?;
    scene.delete::<ConfigMap>("vase-settings").await?;
    // A binding is missed at once: by then a missed ConfigMap would have been noticed, too.
    let bindings: Api<RoleBinding> = scene.api();
    let found = bindings.list(&ListParams::default().labels("olm.owner=vase.v1.0.0")).await?;
    let binding = found.items.into_iter().next().context("there is no RoleBinding")?;
    scene.delete::<RoleBinding>(&binding.name_any()).await?;
    let unmet = "one or more requirements couldn't be found";
    scene.is("vase.v1.0.0", (CsvPhase::Pending, "RequirementsNotMet", unmet)).await?;
    scene.create(&anew(binding)).await?;
    scene.recovered(&before, &[]).await?;
    ensure!(scene.api::<ConfigMap>().get_opt("vase-settings").await?.is_none(), "it is back");
    let plans = scene.api::<InstallPlan>().list(&ListParams::default()).await?;
    let phases: Vec<_> =
        plans.iter().filter_map(|plan| Some(plan.status.as_ref()?.phase)).collect();
    ensure!(phases == [InstallPlanPhase::Complete], "InstallPlans are {phases:?}");
    let plan =
        |subscription: Subscription| subscription.status.and_then(|status| status.install_plan_ref);
    let now = scene.at_latest("vase", "vase.v1.0.0").await?;
    ensure!(plan(now) == plan(subscription), "the Subscription points at another plan");
    scene.at_rest().await
}

/// A Subscription that has forgotten everything finds its plan and its CSV again.
async fn subscription_wiped(scene: Arc<Scene>) -> Result<()> {
    let csv = scene.install("rug", &scene.kind("Rug")).await?;
    let before = scene.at_latest("rug", "rug.v1.0.0").await?;
    scene.edit_status::<Subscription>("rug", Value::Null).await?;
    let after = scene.at_latest("rug", "rug.v1.0.0").await?;
    ensure!(scene.plan_of(&after).await?.uid() == scene.plan_of(&before).await?.uid());
    let generation =
        |subscription: &Subscription| subscription.status.as_ref()?.install_plan_generation;
    ensure!(generation(&after) == generation(&before), "{:?}", generation(&after));
    untouched(&csv, &scene.succeeded("rug.v1.0.0").await?)?;
    scene.at_rest().await
}
