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

use super::steps::{message, patch_csv, respec, went_through};
use crate::builders::{CsvBuilder, csv};
use crate::e2e::TestContext;
use crate::e2e::context::same;
use crate::wait;

/// A version of the kettle; all versions have one Deployment.
fn version(name: &str, replaces: Option<&str>) -> CsvBuilder {
    let version = csv(name, "1.0.0").deployment("kettle", "default");
    replaces.into_iter().fold(version, |csv, replaced| csv.replaces(replaced))
}

/// The last of three versions is created first. The older ones go, the Deployment stays and
/// belongs to the last one.
pub(super) async fn in_any_order(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    for (name, replaces) in [("c", Some("b")), ("a", None), ("b", Some("a"))] {
        ctx.create(&version(name, replaces).build()).await?;
    }
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    wait::until_gone(&csvs, "a").await?;
    wait::until_gone(&csvs, "b").await?;
    ctx.succeeded("c").await?;
    let deployment = ctx.api::<Deployment>().get("kettle").await?;
    same(deployment.labels().get(labels::OWNER).map(String::as_str), "c")?;
    let owners: Vec<&str> =
        deployment.owner_references().iter().map(|owner| owner.name.as_str()).collect();
    ensure!(owners == ["c"], "the owners are {owners:?}");
    Ok(())
}

/// A version whose predecessor never was is installed. One whose predecessor failed waits without
/// a word, until that one is repaired.
pub(super) async fn predecessors(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let successor = csv("successor", "1.0.0").deployment("successor", "default").replaces("absent");
    ctx.create(&successor.build()).await?;
    ctx.succeeded("successor").await?;
    let failed = version("old", None).with(|csv| csv.spec.install.strategy = "helm".to_owned());
    ctx.create(&failed.build()).await?;
    message(&ctx, "old", CsvPhase::Failed, "InvalidInstallStrategy").await?;
    ctx.create(&version("new", Some("old")).build()).await?;
    message(&ctx, "new", CsvPhase::Pending, "RequirementsUnknown").await?;
    ctx.until_idle().await?;
    message(&ctx, "new", CsvPhase::Pending, "RequirementsUnknown").await?;
    respec(&ctx, &version("old", None)).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "old").await?;
    ctx.succeeded("new").await.map(drop)
}

/// A version wants another selector, which cannot be changed: the Deployment is made anew.
pub(super) async fn another_selector(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&version("old", None).build()).await?;
    ctx.succeeded("old").await?;
    let first = ctx.api::<Deployment>().get("kettle").await?;
    let selected = json!({"app": "kettle", "lid": "red"});
    let relabelled = |spec: &mut Value| {
        spec["selector"] = json!({"matchLabels": selected});
        spec["template"]["metadata"]["labels"] = selected.clone();
    };
    ctx.create(&version("new", Some("old")).deployments(relabelled).build()).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "old").await?;
    ctx.succeeded("new").await?;
    let second = ctx.api::<Deployment>().get("kettle").await?;
    ensure!(first.uid() != second.uid(), "it is the same Deployment");
    let spec = serde_json::to_value(&second.spec)?;
    ensure!(spec["selector"]["matchLabels"] == selected, "it selects {}", spec["selector"]);
    let reported = |event: &Event| event.reason.as_deref() == Some("DeploymentRecreated");
    wait::until_some(&ctx.api(), "", "report the new Deployment", reported).await.map(drop)
}

/// Of two versions that replace each other neither would ever go. They say so, until one stops.
pub(super) async fn a_circle(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&version("a", Some("b")).build()).await?;
    ctx.create(&version("b", Some("a")).build()).await?;
    let says_so = |csv: &ClusterServiceVersion| {
        let message = csv.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|text| text.contains("spec.replaces leads in a circle: "))
    };
    wait::until(&ctx.api(), "a", "say that it is in a circle", says_so).await?;
    ctx.until_idle().await?;
    patch_csv(&ctx, "a", json!({"spec": {"replaces": null}})).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "a").await?;
    ctx.succeeded("b").await.map(drop)
}

/// The condition of the old version holds the new one back, until an administrator overrides it.
pub(super) async fn an_operator_that_is_busy(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&version("old", None).build()).await?;
    ctx.succeeded("old").await?;
    override_upgradeable(&ctx, "False").await?;
    ctx.create(&version("new", Some("old")).build()).await?;
    let reason = "OperatorConditionNotUpgradeable";
    let text = message(&ctx, "new", CsvPhase::Pending, reason).await?;
    same(Some(&text), "operator is not upgradeable: the operator is not upgradeable: busy")?;
    went_through(&ctx, "old", CsvPhase::Replacing, "BeingReplaced").await?;
    override_upgradeable(&ctx, "True").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "old").await?;
    ctx.succeeded("new").await.map(drop)
}

/// Makes sure that there is a condition of the old version, and overrides what it says.
async fn override_upgradeable(ctx: &TestContext, status: &str) -> Result<()> {
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
    let conditions = ctx.api::<OperatorCondition>();
    let apply = PatchParams::apply("scenario").force();
    let applied = conditions.patch("old", &apply, &Patch::Apply(object)).await;
    applied.map(drop).context("cannot override the condition")
}
