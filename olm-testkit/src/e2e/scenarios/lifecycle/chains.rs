//! CSVs that replace each other.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorCondition};
use olm_types::labels;
use serde_json::{Value, json};

use super::words::{message, patch_csv, respec, went_through};
use crate::builders::{CsvBuilder, csv};
use crate::e2e::Scene;
use crate::e2e::scene::same;
use crate::wait;

/// A version of the kettle; all versions have one Deployment.
fn version(name: &str, replaces: Option<&str>) -> CsvBuilder {
    let version = csv(name, "1.0.0").deployment("kettle", "default");
    replaces.into_iter().fold(version, |csv, replaced| csv.replaces(replaced))
}

/// The last of three versions is created first. The older ones go, the Deployment stays and
/// belongs to the last one.
pub(super) async fn in_any_order(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    for (name, replaces) in [("c", Some("b")), ("a", None), ("b", Some("a"))] {
        scene.create(&version(name, replaces).build()).await?;
    }
    let csvs: Api<ClusterServiceVersion> = scene.api();
    wait::until_gone(&csvs, "a").await?;
    wait::until_gone(&csvs, "b").await?;
    scene.succeeded("c").await?;
    let deployment = scene.api::<Deployment>().get("kettle").await?;
    same(deployment.labels().get(labels::OWNER).map(String::as_str), "c")?;
    let owners: Vec<&str> =
        deployment.owner_references().iter().map(|owner| owner.name.as_str()).collect();
    ensure!(owners == ["c"], "the owners are {owners:?}");
    Ok(())
}

/// A version whose predecessor never was is installed. One whose predecessor failed waits without
/// a word, until that one is repaired.
pub(super) async fn predecessors(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let successor = csv("successor", "1.0.0").deployment("successor", "default").replaces("absent");
    scene.create(&successor.build()).await?;
    scene.succeeded("successor").await?;
    let failed = version("old", None).with(|csv| csv.spec.install.strategy = "helm".to_owned());
    scene.create(&failed.build()).await?;
    message(&scene, "old", CsvPhase::Failed, "InvalidInstallStrategy").await?;
    scene.create(&version("new", Some("old")).build()).await?;
    message(&scene, "new", CsvPhase::Pending, "RequirementsUnknown").await?;
    scene.at_rest().await?;
    message(&scene, "new", CsvPhase::Pending, "RequirementsUnknown").await?;
    respec(&scene, &version("old", None)).await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "old").await?;
    scene.succeeded("new").await.map(drop)
}

/// A version wants another selector, which cannot be changed: the Deployment is made anew.
pub(super) async fn another_selector(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.create(&version("old", None).build()).await?;
    scene.succeeded("old").await?;
    let first = scene.api::<Deployment>().get("kettle").await?;
    let selected = json!({"app": "kettle", "lid": "red"});
    let relabelled = |spec: &mut Value| {
        spec["selector"] = json!({"matchLabels": selected});
        spec["template"]["metadata"]["labels"] = selected.clone();
    };
    scene.create(&version("new", Some("old")).deployments(relabelled).build()).await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "old").await?;
    scene.succeeded("new").await?;
    let second = scene.api::<Deployment>().get("kettle").await?;
    ensure!(first.uid() != second.uid(), "it is the same Deployment");
    let spec = serde_json::to_value(&second.spec)?;
    ensure!(spec["selector"]["matchLabels"] == selected, "it selects {}", spec["selector"]);
    let reported = |event: &Event| event.reason.as_deref() == Some("DeploymentRecreated");
    wait::until_some(&scene.api(), "", "report the new Deployment", reported).await.map(drop)
}

/// Of two versions that replace each other neither would ever go. They say so, until one stops.
pub(super) async fn a_circle(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.create(&version("a", Some("b")).build()).await?;
    scene.create(&version("b", Some("a")).build()).await?;
    let says_so = |csv: &ClusterServiceVersion| {
        let message = csv.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|text| text.contains("spec.replaces leads in a circle: "))
    };
    wait::until(&scene.api(), "a", "say that it is in a circle", says_so).await?;
    scene.at_rest().await?;
    patch_csv(&scene, "a", json!({"spec": {"replaces": null}})).await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "a").await?;
    scene.succeeded("b").await.map(drop)
}

/// The condition of the old version holds the new one back, until an administrator overrides it.
pub(super) async fn an_operator_that_is_busy(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.create(&version("old", None).build()).await?;
    scene.succeeded("old").await?;
    override_upgradeable(&scene, "False").await?;
    scene.create(&version("new", Some("old")).build()).await?;
    let reason = "OperatorConditionNotUpgradeable";
    let text = message(&scene, "new", CsvPhase::Pending, reason).await?;
    same(Some(&text), "operator is not upgradeable: the operator is not upgradeable: busy")?;
    went_through(&scene, "old", CsvPhase::Replacing, "BeingReplaced").await?;
    override_upgradeable(&scene, "True").await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "old").await?;
    scene.succeeded("new").await.map(drop)
}

/// Makes sure that there is a condition of the old version, and overrides what it says.
async fn override_upgradeable(scene: &Scene, status: &str) -> Result<()> {
    let object: Value = json!({
        "apiVersion": OperatorCondition::API_VERSION, "kind": OperatorCondition::KIND,
        "metadata": {"name": "old"},
        "spec": {"overrides": [
            {
                "type": "Upgradeable", "status": status, "reason": "Busy", "message": "busy",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            },
        ]},
    });
    let conditions = scene.api::<OperatorCondition>();
    let apply = PatchParams::apply("scenario").force();
    let applied = conditions.patch("old", &apply, &Patch::Apply(object)).await;
    applied.map(drop).context("cannot override the condition")
}
