//! What is installed, and what happens to it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use olm_types::api::CsvPhase;
use olm_types::{annotations, labels};
use serde_json::{Value, json};

use super::steps::{message, operator, patch_csv, patch_deployment, respec, went_through};
use crate::e2e::TestContext;
use crate::wait;

const KETTLE: &str = "kettle";

/// A Deployment carries exactly v0's labels, one owner, the annotations of the CSV on its pods,
/// the name of the OperatorCondition, and keeps one old ReplicaSet.
pub(super) async fn a_deployment_as_v0_makes_it(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&operator(KETTLE).build()).await?;
    let csv = ctx.succeeded(KETTLE).await?;
    let deployment = ctx.api::<Deployment>().get(KETTLE).await?;
    let mut keys: Vec<&str> = deployment.labels().keys().map(String::as_str).collect();
    keys.retain(|key| !key.starts_with("operators.coreos.com/"));
    let expected = [
        labels::DEPLOYMENT_SPEC_HASH,
        labels::MANAGED,
        labels::OWNER,
        labels::OWNER_KIND,
        labels::OWNER_NAMESPACE,
    ];
    ensure!(keys == expected, "the labels are {keys:?}");
    let [owner] = deployment.owner_references() else { anyhow::bail!("not one owner") };
    ensure!(Some(&owner.uid) == csv.metadata.uid.as_ref(), "another owner");
    let spec = serde_json::to_value(deployment.spec.context("no spec")?)?;
    ensure!(spec["revisionHistoryLimit"] == json!(1), "the history limit is not 1");
    let pods = &spec["template"]["metadata"]["annotations"];
    ensure!(pods[annotations::TARGET_NAMESPACES] == json!(ctx.namespace), "pods: {pods}");
    let env = &spec["template"]["spec"]["containers"][0]["env"];
    ensure!(*env == json!([{"name": "OPERATOR_CONDITION_NAME", "value": KETTLE}]), "env: {env}");
    Ok(())
}

/// What a user adds to a Deployment stays, as long as it does not make pods go; one that is
/// deleted is installed again as described.
pub(super) async fn a_deployment_behind_our_back(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&operator(KETTLE).build()).await?;
    ctx.succeeded(KETTLE).await?;
    patch_deployment(&ctx, KETTLE, json!({"metadata": {"labels": {"mine": "x"}}})).await?;
    ctx.until_idle().await?;
    let deployments: Api<Deployment> = ctx.api();
    ensure!(deployments.get(KETTLE).await?.labels().contains_key("mine"), "it did not stay");
    deployments.delete(KETTLE, &DeleteParams::background()).await?;
    let failed = went_through(&ctx, KETTLE, CsvPhase::Failed, "ComponentUnhealthy").await?;
    let why = "installing: missing deployment with name=kettle";
    ensure!(failed.message.as_deref() == Some(why), "{failed:?}");
    went_through(&ctx, KETTLE, CsvPhase::Pending, "NeedsReinstall").await?;
    ctx.succeeded(KETTLE).await?;
    ensure!(!deployments.get(KETTLE).await?.labels().contains_key("mine"), "not as described");
    Ok(())
}

/// A Deployment that is deleted before its pods are ready is installed again after a short pause; v0 waits until
/// the install has timed out.
pub(super) async fn a_deployment_gone_while_installing(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let homeless =
        |spec: &mut Value| spec["template"]["spec"]["nodeSelector"] = json!({HOME: "gone"});
    ctx.create(&operator(KETTLE).deployments(homeless).build()).await?;
    went_through(&ctx, KETTLE, CsvPhase::Installing, "InstallWaiting").await?;
    let deployments: Api<Deployment> = ctx.api();
    let deleted = deployments.get(KETTLE).await?;
    deployments.delete(KETTLE, &DeleteParams::background()).await?;
    let again = went_through(&ctx, KETTLE, CsvPhase::InstallReady, "InstallWaiting").await?;
    let why = "installing: missing deployment with name=kettle";
    ensure!(again.message.as_deref() == Some(why), "{again:?}");
    let another = |deployment: &Deployment| deployment.uid() != deleted.uid();
    let made = wait::until(&deployments, KETTLE, "be installed again", another).await?;
    ensure!(made.spec == deleted.spec, "it is another one");
    Ok(())
}

/// What the CSV says is rolled out when it changes, and what it does not describe any more goes.
pub(super) async fn a_changed_csv(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let both = operator(KETTLE).deployment("lid", "default");
    ctx.create(&both.build()).await?;
    ctx.succeeded(KETTLE).await?;
    let variable = json!([{"name": "COLOUR", "value": "red"}]);
    let paint = |spec: &mut Value| {
        if let Some(container) = spec.pointer_mut("/template/spec/containers/0") {
            container["env"] = variable.clone();
        }
    };
    respec(&ctx, &operator(KETTLE).deployments(paint)).await?;
    let updated = went_through(&ctx, KETTLE, CsvPhase::InstallReady, "ComponentUnhealthy").await?;
    let text = updated.message.unwrap_or_default();
    ensure!(text.starts_with("installing: deployment changed old hash="), "{text}");
    let deployments: Api<Deployment> = ctx.api();
    wait::until_gone(&deployments, "lid").await?;
    patch_csv(&ctx, KETTLE, json!({"metadata": {"annotations": {"new": "x"}}})).await?;
    wait::until(&deployments, KETTLE, "show the annotation", |deployment: &Deployment| {
        let template = deployment.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
        let shown = template.and_then(|metadata| metadata.annotations.as_ref());
        shown.is_some_and(|all| all.get("new").is_some_and(|value| value == "x"))
    })
    .await?;
    ctx.succeeded(KETTLE).await.map(drop)
}

/// A Deployment that misses its deadline fails the CSV for good; when it recovers, so does the CSV.
pub(super) async fn a_missed_deadline(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let homeless = |spec: &mut Value| {
        spec["progressDeadlineSeconds"] = json!(DEADLINE_SECONDS);
        spec["template"]["spec"]["nodeSelector"] = json!({HOME: "here"});
    };
    ctx.create(&operator(KETTLE).deployments(homeless).build()).await?;
    missed_for_good(&ctx).await?;
    let text = message(&ctx, KETTLE, CsvPhase::Failed, "InstallCheckFailed").await?;
    let expected = "install failed: deployment kettle not ready before timeout: deployment \
                    \"kettle\" exceeded its progress deadline";
    ensure!(text == expected, "{text}");
    let node = label_a_node(&ctx, None, json!("here")).await?;
    let csv = ctx.succeeded(KETTLE).await;
    label_a_node(&ctx, Some(node), Value::Null).await?;
    let csv = csv?;
    let status = csv.status.context("no status")?;
    let last: Vec<CsvPhase> = status.conditions.iter().rev().map(|past| past.phase).collect();
    ensure!(last.starts_with(&[CsvPhase::Succeeded, CsvPhase::Failed]), "{last:?}");
    Ok(())
}

/// Deadline of a Deployment whose pods have nowhere to go.
const DEADLINE_SECONDS: i64 = 5;

/// Waits until nothing is left that could count as progress but a pod that runs.
///
/// A pod that is made after the deadline is progress: the Deployment takes its failure back, the
/// CSV is installed again, and only then the deadline is missed once more.
async fn missed_for_good(ctx: &TestContext) -> Result<()> {
    let missed = |deployment: &Deployment| {
        let Some(status) = &deployment.status else { return false };
        let mut conditions = status.conditions.iter().flatten();
        status.updated_replicas == Some(1)
            && conditions.any(|one| one.reason.as_deref() == Some("ProgressDeadlineExceeded"))
    };
    wait::until(&ctx.api(), KETTLE, "miss its deadline with its pod", missed).await?;
    ctx.until_idle().await
}

/// Label of the only node that the pods of a scenario go to.
const HOME: &str = "lifecycle.example.com/home";

/// Labels a node, or takes its label away; the name of the node.
async fn label_a_node(ctx: &TestContext, name: Option<String>, value: Value) -> Result<String> {
    let nodes: Api<Node> = Api::all(ctx.client.clone());
    let name = match name {
        Some(name) => name,
        None => {
            let all = nodes.list(&ListParams::default()).await?;
            all.iter().next().map(ResourceExt::name_any).context("there is no node")?
        }
    };
    let patch = Patch::Merge(json!({"metadata": {"labels": {HOME: value}}}));
    nodes.patch(&name, &PatchParams::default(), &patch).await.context("cannot label a node")?;
    Ok(name)
}
