//! `kubectl olm plan apply`: what a manifest does is seen before it is merged.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use olm_types::annotations::APPROVE;
use olm_types::api::{Approval, InstallPlan, Subscription};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::builders;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::kubectl::Kubectl;
use crate::wait;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// A manifest that approves the first version, and its change that approves the second one: each is shown first, and
/// OLM does it when it is applied. What is not approved is shown to wait, and waits.
pub(super) async fn before_it_is_applied(ctx: Arc<TestContext>) -> Result<()> {
    let kind = kettles(&ctx);
    let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)];
    let content = ctx.content(&stable(&versions))?;
    let catalog = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.catalog("kitchen", &stable(&versions)).await?;
    let program = Program::new(&ctx).await?;
    refused(&ctx, &program).await?;

    let first = manifest(&ctx, OLD)?;
    let shown = plan(&program, &first, &catalog).await?;
    ensure!(shown["action"] == "install" && approved(&shown) == [true, false], "{shown:#}");
    apply(&program, &first)?;
    ctx.succeeded(OLD).await?;
    made(&ctx, &shown["hops"][0], OLD, "Complete").await?;
    made(&ctx, &shown["hops"][1], NEW, "RequiresApproval").await?;
    ctx.until_idle().await?;

    let second = manifest(&ctx, NEW)?;
    let shown = plan(&program, &second, &catalog).await?;
    ensure!(shown["action"] == "upgrade" && approved(&shown) == [true], "{shown:#}");
    apply(&program, &second)?;
    ctx.succeeded(NEW).await?;
    made(&ctx, &shown["hops"][0], NEW, "Complete").await?;
    ctx.at_latest("kettle", NEW).await.map(drop)
}

/// What is not about one Subscription, or is one of another namespace, is named.
async fn refused(ctx: &TestContext, program: &Program) -> Result<()> {
    let subscription = serde_json::to_value(subscription(ctx, OLD))?;
    let both = file(&json!({"items": [subscription, subscription]}))?;
    let path = both.path().display().to_string();
    let ended = program.run(&["plan", "apply", "-f", &path]).await?;
    ended.failed_with("there are 2 Subscriptions, and a plan is of one")?;
    let one = file(&subscription)?;
    let path = one.path().display().to_string();
    let ended = program.run(&["plan", "apply", "-f", &path, "-n", "elsewhere"]).await?;
    ended.failed_with("and -n names elsewhere: leave one of the two out")
}

fn subscription(ctx: &TestContext, approved: &str) -> Subscription {
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    let annotations = [(APPROVE.to_owned(), approved.to_owned())];
    subscription.metadata.annotations = Some(annotations.into());
    subscription.spec.starting_csv = Some(OLD.to_owned());
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription
}

/// An OperatorGroup and the Subscription that approves a version.
fn manifest(ctx: &TestContext, approved: &str) -> Result<NamedTempFile> {
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "group", "namespace": ctx.namespace},
        "spec": {"targetNamespaces": [ctx.namespace]}});
    let mut subscription = serde_json::to_value(subscription(ctx, approved))?;
    subscription["metadata"]["namespace"] = json!(ctx.namespace);
    file(&json!({"apiVersion": "v1", "kind": "List", "items": [group, subscription]}))
}

fn file(content: &Value) -> Result<NamedTempFile> {
    let file = NamedTempFile::new().context("cannot make a file")?;
    serde_json::to_writer(file.as_file(), content).context("cannot write a manifest")?;
    Ok(file)
}

async fn plan(program: &Program, manifest: &NamedTempFile, catalog: &str) -> Result<Value> {
    let path = manifest.path().display().to_string();
    program.json(&["plan", "apply", "-f", &path, "--catalog", catalog]).await
}

/// Of each InstallPlan, whether the manifest approves it.
fn approved(shown: &Value) -> Vec<bool> {
    let hops = shown["hops"].as_array().into_iter().flatten();
    hops.map(|hop| hop["isApproved"] == Value::Bool(true)).collect()
}

fn apply(program: &Program, manifest: &NamedTempFile) -> Result<()> {
    let path = manifest.path().display().to_string();
    Kubectl::of(program.kubeconfig())?.run(&["apply", "-f", &path]).map(drop)
}

/// Waits for the InstallPlan of a CSV in a phase, which has the steps that were shown.
async fn made(ctx: &TestContext, hop: &Value, csv: &str, phase: &str) -> Result<()> {
    let here = format!("metadata.namespace={}", ctx.namespace);
    let what = format!("bring {csv} and be {phase}");
    let plan = wait::until_some(&ctx.api(), &here, &what, |plan: &InstallPlan| {
        let brings = plan.spec.cluster_service_version_names == [csv];
        brings && plan.status.as_ref().is_some_and(|status| status.phase.to_string() == phase)
    })
    .await?;
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let steps = steps.map(|step| json!(format!("{}/{}", step.resource.kind, step.resource.name)));
    let steps: Vec<Value> = steps.collect();
    ensure!(!steps.is_empty() && hop["steps"] == json!(steps), "{steps:?}\n{hop:#}");
    Ok(())
}
