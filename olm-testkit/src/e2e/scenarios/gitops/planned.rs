//! `kubectl olm plan apply`: what a manifest does is seen before it is merged.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use olm_types::annotations::{APPROVE, PAUSE};
use olm_types::api::{Approval, InstallPlan, Subscription};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::builders;
use crate::e2e::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::e2e::scenarios::{Program, same_steps};
use crate::kubectl::{Kubectl, manifest_file};
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

    let first = manifest(&ctx, &[(APPROVE, OLD)])?;
    let shown = plan(&program, &first, None, &catalog).await?;
    ensure!(shown["action"] == "install" && approved(&shown) == [true, false], "{shown:#}");
    apply(&program, &first, None)?;
    ctx.succeeded(OLD).await?;
    made(&ctx, &shown["hops"][0], OLD, "Complete").await?;
    made(&ctx, &shown["hops"][1], NEW, "RequiresApproval").await?;
    ctx.until_idle().await?;

    for manager in [None, Some("argocd-controller")] {
        resumed(&ctx, &program, manager, &catalog).await?;
    }
    let second = manifest(&ctx, &[(APPROVE, NEW)])?;
    let shown = plan(&program, &second, None, &catalog).await?;
    ensure!(shown["action"] == "upgrade" && approved(&shown) == [true], "{shown:#}");
    apply(&program, &second, None)?;
    ctx.succeeded(NEW).await?;
    made(&ctx, &shown["hops"][0], NEW, "Complete").await?;
    ctx.at_latest("kettle", NEW).await.map(drop)
}

/// What is not about one Subscription, or is one of another namespace, is named.
async fn refused(ctx: &TestContext, program: &Program) -> Result<()> {
    let subscription = serde_json::to_value(subscription(ctx, &[(APPROVE, OLD)]))?;
    let both = manifest_file(&json!({"items": [subscription, subscription]}))?;
    let path = both.path().display().to_string();
    let ended = program.run(&["plan", "apply", "-f", &path]).await?;
    ended.failed_with("there are 2 Subscriptions, and a plan is of one")?;
    let one = manifest_file(&subscription)?;
    let path = one.path().display().to_string();
    let ended = program.run(&["plan", "apply", "-f", &path, "-n", "elsewhere"]).await?;
    ended.failed_with("and -n names elsewhere: leave one of the two out")
}

/// What an earlier manifest had and this one has no more is gone in the plan, and in the cluster once it is applied:
/// without the pause, the next version waits for approval again.
async fn resumed(
    ctx: &TestContext,
    program: &Program,
    manager: Option<&str>,
    catalog: &str,
) -> Result<()> {
    let paused = manifest(ctx, &[(APPROVE, OLD), (PAUSE, "true")])?;
    apply(program, &paused, manager)?;
    let path = paused.path().display().to_string();
    let ended = program.run(&words(&path, manager, catalog)).await?;
    ended.failed_with(&format!("Subscription kettle has annotation {PAUSE}"))?;
    let resumed = manifest(ctx, &[(APPROVE, OLD)])?;
    let shown = plan(program, &resumed, manager, catalog).await?;
    ensure!(approved(&shown) == [false], "{manager:?}: {shown:#}");
    apply(program, &resumed, manager)?;
    let live: Subscription = ctx.api().get("kettle").await.context("no Subscription")?;
    ensure!(!live.annotations().contains_key(PAUSE), "{manager:?}: {:?}", live.annotations());
    Ok(())
}

fn subscription(ctx: &TestContext, annotations: &[(&str, &str)]) -> Subscription {
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    let annotations = annotations.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    subscription.metadata.annotations = Some(annotations.collect());
    subscription.spec.starting_csv = Some(OLD.to_owned());
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription
}

/// An OperatorGroup, and the Subscription with annotations.
fn manifest(ctx: &TestContext, annotations: &[(&str, &str)]) -> Result<NamedTempFile> {
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "group", "namespace": ctx.namespace},
        "spec": {"targetNamespaces": [ctx.namespace]}});
    let mut subscription = serde_json::to_value(subscription(ctx, annotations))?;
    subscription["metadata"]["namespace"] = json!(ctx.namespace);
    manifest_file(&json!({"apiVersion": "v1", "kind": "List", "items": [group, subscription]}))
}

/// What shows the plan of a file, server-side where there is a manager.
fn words<'a>(path: &'a str, manager: Option<&'a str>, catalog: &'a str) -> Vec<&'a str> {
    let manager = manager.map(|manager| ["--field-manager", manager]);
    let words = ["plan", "apply", "-f", path, "--catalog", catalog];
    words.into_iter().chain(manager.into_iter().flatten()).collect()
}

async fn plan(
    program: &Program,
    manifest: &NamedTempFile,
    manager: Option<&str>,
    catalog: &str,
) -> Result<Value> {
    let path = manifest.path().display().to_string();
    program.json(&words(&path, manager, catalog)).await
}

/// Of each InstallPlan, whether the manifest approves it.
fn approved(shown: &Value) -> Vec<bool> {
    let hops = shown["hops"].as_array().into_iter().flatten();
    hops.map(|hop| hop["isApproved"] == Value::Bool(true)).collect()
}

fn apply(program: &Program, manifest: &NamedTempFile, manager: Option<&str>) -> Result<()> {
    let path = manifest.path().display().to_string();
    let kubectl = Kubectl::of(program.kubeconfig())?;
    match manager {
        None => kubectl.run(&["apply", "-f", &path]),
        Some(manager) => {
            kubectl.run(&["apply", "--server-side", "--field-manager", manager, "-f", &path])
        }
    }
    .map(drop)
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
    same_steps(hop, &plan)
}
