//! Objects that OLM made are changed or deleted behind its back.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_testkit::builders::{Bundle, Package};
use olm_testkit::wait;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Subscription,
};
use olm_types::{annotations, labels};
use serde_json::{Value, json};

use super::words::{State, anew, kind, operator, untouched};
use crate::scene::Scene;

/// A Deployment that is deleted is made again.
pub async fn deployment_deleted(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("lamp", &kind(&scene, "Lamp")).await?;
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
pub async fn hash_edited(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("desk", &kind(&scene, "Desk")).await?;
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
pub async fn owner_removed(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("rack", &kind(&scene, "Rack")).await?;
    let edit = json!({"metadata": {"labels": {labels::OWNER: null}, "ownerReferences": null}});
    let message = "installing: missing deployment with name=rack";
    let state = (CsvPhase::Failed, "ComponentUnhealthy", message);
    deployment_edited(&scene, &before, "rack", edit, state).await?;
    scene.at_rest().await
}

/// The annotation of the pods by which an operator knows its namespaces. What else is in a
/// Deployment's spec may be edited, and stays (spec olm-operator 3.4).
pub async fn template_edited(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("sofa", &kind(&scene, "Sofa")).await?;
    let scaled = json!({"spec": {"replicas": 2}});
    let scaled: Deployment = scene.edit("sofa", scaled).await?;
    wait::until(&scene.api(), "sofa", "have two pods", |deployment: &Deployment| {
        let ready = deployment.status.as_ref().and_then(|status| status.ready_replicas);
        ready == Some(2)
    })
    .await?;
    let targets = |deployment: &Deployment| {
        let template = &deployment.spec.as_ref()?.template;
        let annotations = template.metadata.as_ref()?.annotations.as_ref()?;
        annotations.get(annotations::TARGET_NAMESPACES).cloned()
    };
    ensure!(targets(&scaled).as_ref() == Some(&scene.namespace), "{:?}", targets(&scaled));
    let template = json!({"metadata": {"annotations": {annotations::TARGET_NAMESPACES: "all"}}});
    scene.edit::<Deployment>("sofa", json!({"spec": {"template": template}})).await?;
    wait::until(&scene.api(), "sofa", "watch its namespace again", |deployment: &Deployment| {
        targets(deployment).as_ref() == Some(&scene.namespace)
    })
    .await?;
    scene.recovered(&before, &[]).await?;
    scene.at_rest().await
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

/// A plan that is done stays done: its ConfigMap is not made again, and nobody waits for it. What
/// the CSV requires is missed, and nothing is missed that it does not name.
pub async fn config_map_deleted(scene: Arc<Scene>) -> Result<()> {
    let crd = kind(&scene, "Vase");
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "vase-settings"}, "data": {"colour": "blue"},
    });
    let bundle = Bundle::new("1.0.0", &operator("vase", &crd)).provides(&crd).manifest(settings);
    scene.operator_group().await?;
    scene.catalog("shelf", &[Package::single("vase", bundle)]).await?;
    scene.subscribe("vase", "shelf").await?;
    let wish = scene.at_latest("vase", "vase.v1.0.0").await?;
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
    let plan = |wish: Subscription| wish.status.and_then(|status| status.install_plan_ref);
    let now = scene.at_latest("vase", "vase.v1.0.0").await?;
    ensure!(plan(now) == plan(wish), "the Subscription points at another plan");
    scene.at_rest().await
}

/// A Subscription that has forgotten everything finds its plan and its CSV again.
pub async fn subscription_wiped(scene: Arc<Scene>) -> Result<()> {
    let csv = scene.install("rug", &kind(&scene, "Rug")).await?;
    let before = scene.at_latest("rug", "rug.v1.0.0").await?;
    scene.edit_status::<Subscription>("rug", Value::Null).await?;
    let after = scene.at_latest("rug", "rug.v1.0.0").await?;
    ensure!(scene.plan_of(&after).await?.uid() == scene.plan_of(&before).await?.uid());
    let generation = |wish: &Subscription| wish.status.as_ref()?.install_plan_generation;
    ensure!(generation(&after) == generation(&before), "{:?}", generation(&after));
    untouched(&csv, &scene.succeeded("rug.v1.0.0").await?)?;
    scene.at_rest().await
}
