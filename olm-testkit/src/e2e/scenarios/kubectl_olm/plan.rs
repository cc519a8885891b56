//! What `kubectl olm plan` shows is what OLM then does.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, OperatorGroup, Subscription,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::program::{Ended, Program};
use super::{NEW, OLD, waiting_plan};
use crate::builders;
use crate::e2e::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::kubectl::Kubectl;
use crate::wait::{self, TIMEOUT};

/// How often an object is looked for.
const ASK: std::time::Duration = std::time::Duration::from_millis(100);

/// An installation, an upgrade and a removal: each is shown before it is done, and the steps of OLM's
/// InstallPlans are those that were shown. What was shown as created is there, what was shown as deleted is
/// gone.
pub(super) async fn comes_true(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kind = kettles(&ctx);
    let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)];
    let content = ctx.content(&stable(&versions))?;
    let folder = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.catalog("kitchen", &stable(&versions)).await?;
    let source = format!("{}/kitchen", ctx.namespace);
    let install = ["plan", "install", "kettle", "--source", &source, "--version", "1.0.0"];
    let flags = ["--approval", "Manual", "--install-mode", "OwnNamespace", "--catalog", &folder];
    let install = [&install[..], &flags[..]].concat();
    refuses(&program, &folder).await?;
    let shown = program.json(&install).await?;
    ensure!(shown["kind"] == "Plan" && shown["hops"][0]["bundles"][0]["csv"] == OLD, "{shown:#}");
    ensure!(shown == program.json(&install).await?, "the same question has another answer");
    ensure!(created(&shown).contains("OperatorGroup"), "{shown:#}");
    let detailed = [&install[..], &["--detailed-exitcode"]].concat();
    let ended = program.run(&detailed).await?;
    ensure!(ended.code == Some(2) && ended.printed.contains("kettle.v1.0.0"), "{ended:?}");
    by_the_packages_api(&program, &source).await?;

    let plan = subscribe(&ctx).await?;
    same_steps(&shown["hops"][0], &plan)?;
    approve(&ctx, &plan).await?;
    ctx.succeeded(OLD).await?;
    matches(&ctx, &shown).await?;

    let plan = waiting_plan(&ctx, "kettle").await?;
    // Roles of the APIs are made after a CSV has succeeded: each plan shows those that there are not yet.
    ctx.until_idle().await?;
    let upgrade = ["plan", "upgrade", "kettle", "--catalog", &folder];
    let shown = program.json(&upgrade).await?;
    ensure!(shown["hops"][0]["bundles"][0]["replaces"] == OLD, "{shown:#}");
    same_steps(&shown["hops"][0], &plan)?;
    let asked = ["approve", "kettle", "1.1.0", "--dry-run", "--catalog", &folder];
    let approval = program.json(&asked).await?;
    ensure!(approval["planHash"] == shown["planHash"], "approve shows another plan: {approval:#}");
    offline(&ctx, &program, &folder, &shown).await?;
    approve(&ctx, &plan).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    matches(&ctx, &shown).await?;
    let nothing = program.json(&upgrade).await?;
    ensure!(nothing["hops"] == json!([]) && nothing["changes"] == json!([]), "{nothing:#}");

    let shown = program.json(&["plan", "uninstall", "kettle", "--catalog", &folder]).await?;
    ensure!(shown["crds"][0]["verdict"] == "stays", "{shown:#}");
    let subscriptions: Api<Subscription> = ctx.api();
    subscriptions.delete("kettle", &Default::default()).await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    csvs.delete(NEW, &Default::default()).await?;
    matches(&ctx, &shown).await
}

/// What is not there is named, and nothing is shown.
async fn refuses(program: &Program, folder: &str) -> Result<()> {
    let stranger = program.run(&["plan", "install", "stove", "--catalog", folder]).await?;
    stranger.failed_with("no catalog that was read has the package stove")?;
    let other = ["plan", "install", "kettle", "--version", "9.0.0", "--catalog", folder];
    program.run(&other).await?.failed_with("has no version 9.0.0")?;
    let nothing = program.run(&["plan", "upgrade", "kettle", "--catalog", folder]).await?;
    nothing.failed_with("no Subscription in namespace")
}

/// Without the flag the address of the CatalogSource is not asked: what it says is a tenant's. The head of the
/// channel is known by the packages API, and the plan ends as incomplete and names what is missing.
async fn by_the_packages_api(program: &Program, source: &str) -> Result<()> {
    let install = ["plan", "install", "kettle", "--source", source, "-o", "json"];
    let ended = presented(program, &install).await?;
    ensure!(ended.code == Some(3), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.printed)?;
    ensure!(found["hops"][0]["bundles"][0]["csv"] == NEW, "{found:#}");
    let unknown = found["unknown"].to_string();
    ensure!(unknown.contains(&format!("--catalog {source}=HOST:PORT")), "{unknown}");
    ensure!(unknown.contains(&format!("manifests of bundle {NEW}")), "{unknown}");
    Ok(())
}

/// How a command ends once the packages API presents what it asks for, which is a while after a catalog is connected.
pub(super) async fn presented(program: &Program, words: &[&str]) -> Result<Ended> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let ended = program.run(words).await?;
        let is_presented = !ended.errors.contains("presents nothing of it")
            && !ended.errors.contains("no catalog that was read");
        if is_presented || Instant::now() > deadline {
            return Ok(ended);
        }
        sleep(ASK).await;
    }
}

/// The same by files alone: what kubectl prints of the kinds that docs/kubectl-olm.md names, and a folder.
async fn offline(ctx: &TestContext, program: &Program, folder: &str, shown: &Value) -> Result<()> {
    let files = tempfile::tempdir().context("no folder for the state")?;
    let state = files.path().join("state.json");
    let kinds = "subscriptions,csv,operatorgroups,operatorconditions,roles,rolebindings,serviceaccounts,services,\
                 deployments";
    let own = get(program, &["-n", &ctx.namespace, kinds])?;
    let crds = get(program, &["crds"])?;
    let of_cluster = get(program, &["clusterroles,clusterrolebindings,namespaces,operators"])?;
    std::fs::write(&state, [own, crds, of_cluster].join("\n---\n"))?;
    let state = state.display().to_string();
    let args = ["plan", "upgrade", "kettle", "--offline", "--catalog", folder, "--state", &state];
    let found = program.json(&args).await?;
    for part in ["hops", "crds", "rights", "images", "refused", "unknown"] {
        ensure!(found[part] == shown[part], "{part}: {:#}\n{:#}", found[part], shown[part]);
    }
    let [found, shown] = [&found, shown].map(compared_here);
    ensure!(found == shown, "{found:#?}\n{shown:#?}");
    Ok(())
}

/// What becomes of each object, without the fields: those that the API server adds are in no file.
fn compared_here(plan: &Value) -> Vec<String> {
    let changes = plan["changes"].as_array().into_iter().flatten();
    let texts = changes.map(|one| {
        let [action, kind, namespace, name] =
            ["action", "kind", "namespace", "name"].map(|field| one[field].as_str().unwrap_or("-"));
        format!("{action} {kind} {namespace}/{name}")
    });
    texts.collect()
}

fn get(program: &Program, args: &[&str]) -> Result<String> {
    Kubectl::of(program.kubeconfig())?.run(&[&["get", "-o", "json"], args].concat())
}

fn created(shown: &Value) -> BTreeSet<&str> {
    let changes = shown["changes"].as_array().into_iter().flatten();
    let created = changes.filter(|change| change["action"] == "Create");
    created.filter_map(|change| change["kind"].as_str()).collect()
}

/// The steps of the plan are those of the InstallPlan that a preview shows, in their order.
pub(crate) fn same_steps(hop: &Value, plan: &InstallPlan) -> Result<()> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let steps = steps.map(|step| json!(format!("{}/{}", step.resource.kind, step.resource.name)));
    let steps: Vec<Value> = steps.collect();
    ensure!(!steps.is_empty() && hop["steps"] == json!(steps), "{steps:?}\n{hop:#}");
    Ok(())
}

/// Everything that was shown has come true: objects are there, or gone.
async fn matches(ctx: &TestContext, shown: &Value) -> Result<()> {
    let changes = shown["changes"].as_array().context("the plan has no changes")?;
    ensure!(!changes.is_empty(), "{shown:#}");
    for change in changes {
        let text = |field: &str| change[field].as_str().unwrap_or_default();
        let kind = GroupVersionKind::gvk(
            text("group"),
            version(text("group"), text("kind")),
            text("kind"),
        );
        let kind = ApiResource::from_gvk(&kind);
        let client = ctx.api::<InstallPlan>().into_client();
        let api: Api<DynamicObject> = match text("namespace") {
            "" => Api::all_with(client, &kind),
            namespace => Api::namespaced_with(client, namespace, &kind),
        };
        let is_gone = change["action"] == "Delete";
        is_there(&api, text("name"), !is_gone).await.with_context(|| format!("{change}"))?;
    }
    Ok(())
}

/// Waits until an object is there, or gone.
async fn is_there(api: &Api<DynamicObject>, name: &str, expected: bool) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    while api.get_opt(name).await?.is_some() != expected {
        ensure!(
            Instant::now() < deadline,
            "{name} is {}",
            if expected { "absent" } else { "there" }
        );
        sleep(ASK).await;
    }
    Ok(())
}

fn version(group: &str, kind: &str) -> &'static str {
    match (group, kind) {
        ("operators.coreos.com", "OperatorGroup" | "Operator") => "v1",
        ("operators.coreos.com", "OperatorCondition") => "v2",
        ("operators.coreos.com", _) => "v1alpha1",
        _ => "v1",
    }
}

/// The OperatorGroup and the Subscription as they were shown, and the plan that waits.
async fn subscribe(ctx: &TestContext) -> Result<InstallPlan> {
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": ctx.namespace, "namespace": ctx.namespace},
        "spec": {"targetNamespaces": [ctx.namespace]}});
    let group: OperatorGroup = serde_json::from_value(group)?;
    ctx.create(&group).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&subscription).await?;
    waiting_plan(ctx, "kettle").await
}

async fn approve(ctx: &TestContext, plan: &InstallPlan) -> Result<()> {
    let name = plan.metadata.name.clone().unwrap_or_default();
    let approved = Patch::Merge(json!({"spec": {"approved": true}}));
    ctx.api::<InstallPlan>().patch(&name, &PatchParams::default(), &approved).await?;
    wait::until(&ctx.api(), &name, "be complete", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
    })
    .await
    .map(drop)
}
