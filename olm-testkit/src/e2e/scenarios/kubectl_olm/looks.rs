//! `kubectl olm` where it only looks: into catalogs, at what is installed, and at what accounts may do.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, PostParams};
use olm_types::api::Subscription;
use serde_json::{Value, json};

use super::plan::presented;
use super::program::Program;
use super::{NEW, OLD};
use crate::builders::{Bundle, Package, csv};
use crate::e2e::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::e2e::scenarios::upgrades::{kettle, kettles};
use crate::wait;

/// What needs the kettle.
const STOVE: &str = "stove.v1.0.0";

/// An operator is installed with its dependency, of which the newer version may read Secrets.
pub(super) async fn at_everything(ctx: Arc<TestContext>) -> Result<()> {
    let packages = packages(&ctx);
    let content = ctx.content(&packages)?;
    let flag = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &packages).await?;
    ctx.subscribe("stove", "kitchen").await?;
    ctx.succeeded(NEW).await?;
    ctx.succeeded(STOVE).await?;
    ctx.at_latest("stove", STOVE).await?;
    // OLM v0 leaves the status of a generated Subscription empty for a while.
    let here = format!("metadata.namespace={}", ctx.namespace);
    wait::until_some(&ctx.api(), &here, "be at the dependency", |subscription: &Subscription| {
        let status = subscription.status.as_ref();
        status.is_some_and(|status| status.installed_csv.as_deref() == Some(NEW))
    })
    .await?;
    ctx.until_idle().await?;
    let program = Program::new(&ctx).await?;
    into_catalogs(&ctx, &program, &flag).await?;
    at_the_graph(&program, &flag).await?;
    at_what_is_installed(&ctx, &program).await?;
    at_custom_resources(&ctx, &program).await?;
    at_permissions(&program, &flag).await?;
    at_reasons(&program, &flag).await
}

fn packages(ctx: &TestContext) -> [Package; 2] {
    let kind = kettles(ctx);
    let secrets = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
    let new = operator("kettle", "1.1.0", &kind).permission("kettle", secrets);
    let new = Bundle::new("1.1.0", &new).provides(&kind).replaces(OLD);
    let stove = csv(STOVE, "1.0.0").deployment("stove", "default").requires(&kind);
    let stove = Bundle::new("1.0.0", &stove).requires(&kind);
    [
        Package::new("kettle").channel("stable", vec![kettle("1.0.0", &kind), new]),
        Package::single("stove", stove),
    ]
}

/// A package is found by the API that it provides, and shown with what its bundle brings and may do.
async fn into_catalogs(ctx: &TestContext, program: &Program, flag: &str) -> Result<()> {
    let source = format!("{}/kitchen", ctx.namespace);
    let show = ["show", "kettle", "--source", &source, "--catalog", flag];
    let shown = presented(program, &show).await?;
    ensure!(shown.code == Some(0), "{shown:?}");
    for part in ["stable (default): ", "Bundle kettle.v1.1.0", "install modes: ", "permissions:"] {
        ensure!(shown.printed.contains(part), "{part} is not in {shown:?}");
    }
    ensure!(shown.printed.contains("! kettle in namespaces: get secrets"), "{shown:?}");
    let old = program.prints(&[&show[..], &["--version", "1.0.0"]].concat()).await?;
    ensure!(old.contains("Bundle kettle.v1.0.0") && !old.contains("secrets"), "{old}");

    let found = program.json(&["search", "--provides", "Kettle", "--source", "kitchen"]).await?;
    let rows = found["items"].as_array().context("search finds no list")?;
    ensure!(rows.len() == 1 && rows[0]["name"] == "kettle", "{found:#}");
    let homes = rows[0]["installed"].as_array().cloned().unwrap_or_default();
    ensure!(homes.contains(&json!(ctx.namespace)), "{found:#}");
    let nothing = program.run(&["search", "no-such-word", "--source", "kitchen"]).await?;
    ensure!(nothing.errors.contains("No packages found."), "{nothing:?}");
    Ok(())
}

/// The graph has the version that is installed, or another one as if it were.
async fn at_the_graph(program: &Program, flag: &str) -> Result<()> {
    let graph = ["graph", "kettle", "--catalog", flag];
    let here = |text: &str, csv: &str| {
        text.lines().any(|line| line.contains(csv) && line.contains("you are here"))
    };
    let text = program.prints(&graph).await?;
    ensure!(here(&text, NEW) && text.contains("head of stable"), "{text}");
    let text = program.prints(&[&graph[..], &["-o", "text", "--from", "1.0.0"]].concat()).await?;
    ensure!(here(&text, OLD), "{text}");
    let chart = program.prints(&[&graph[..], &["-o", "mermaid"]].concat()).await?;
    ensure!(chart.starts_with("flowchart BT\n") && chart.contains(":::here"), "{chart}");
    let values = program.json(&graph).await?;
    ensure!(values["kind"] == "UpgradeGraph" && values["installed"] == NEW, "{values:#}");
    Ok(())
}

/// A dependency says whose it is, in each form; a tree that is healthy ends with 0.
async fn at_what_is_installed(ctx: &TestContext, program: &Program) -> Result<()> {
    let list = program.json(&["list"]).await?;
    let rows = list["items"].as_array().cloned().unwrap_or_default();
    let row = rows.iter().find(|row| row["package"] == "kettle").context("no kettle is listed")?;
    ensure!(row["dependencyOf"] == json!([STOVE]) && row["version"] == "1.1.0", "{list:#}");
    for words in [&["list"][..], &["list", "-o", "wide"], &["list", "-A"]] {
        let text = program.prints(words).await?;
        let header = text.lines().next().unwrap_or_default();
        ensure!(header.starts_with("NAME ") && header.ends_with(" AGE"), "{text}");
        ensure!(header.contains("DEPENDENCY OF") && text.contains(STOVE), "{text}");
    }
    let everywhere = program.prints(&["list", "-A"]).await?;
    ensure!(everywhere.contains(&ctx.namespace), "{everywhere}");
    let yaml = program.prints(&["list", "-o", "yaml"]).await?;
    ensure!(yaml.contains("apiVersion: kubectl-olm/v1alpha1\n"), "{yaml}");
    let tree = program.prints(&["tree", "stove", "--detailed-exitcode"]).await?;
    ensure!(tree.contains("Deployment/stove"), "{tree}");
    let names = program.prints(&["status", "stove", "-o", "name"]).await?;
    ensure!(names.starts_with("subscription/stove\n"), "{names}");
    let events = program.json(&["events", "stove"]).await?;
    ensure!(events["items"].as_array().is_some_and(|all| !all.is_empty()), "{events:#}");
    Ok(())
}

/// The custom resources are those of the kinds that the CSV owns.
async fn at_custom_resources(ctx: &TestContext, program: &Program) -> Result<()> {
    let group = format!("{}.example.com", ctx.namespace);
    let gvk = GroupVersionKind::gvk(&group, "v1", "Kettle");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kettles");
    let kettles: Api<DynamicObject> =
        Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    let kettle: Value = json!({"apiVersion": gvk.api_version(), "kind": "Kettle",
        "metadata": {"name": "mine"}, "spec": {"litres": 2}});
    let kettle: DynamicObject = serde_json::from_value(kettle)?;
    kettles.create(&PostParams::default(), &kettle).await.context("cannot make a kettle")?;
    let operands = program.json(&["operands", "kettle"]).await?;
    ensure!(operands["items"][0]["name"] == "mine", "{operands:#}");
    let names = program.prints(&["operands", "kettle", "-o", "name"]).await?;
    ensure!(names == format!("kettles.{group}/mine\n"), "{names}");
    Ok(())
}

/// The older version lacks the right that reaches furthest.
async fn at_permissions(program: &Program, flag: &str) -> Result<()> {
    let own = program.prints(&["permissions", "kettle"]).await?;
    ensure!(own.starts_with("NAME ") && own.contains("secrets"), "{own}");
    let compare = ["permissions", "kettle", "--to", "1.0.0", "--catalog", flag];
    let text = program.prints(&compare).await?;
    ensure!(text.contains("Compared with kettle.v1.0.0:\n- ! kettle in namespaces"), "{text}");
    let values = program.json(&compare).await?;
    let compared = &values["comparedWith"];
    ensure!(compared["lost"][0]["escalations"] == json!(["secrets"]), "{values:#}");
    ensure!(compared["gained"] == json!([]) && compared["csv"] == OLD, "{values:#}");
    Ok(())
}

/// Who needs the dependency, and that nothing is newer. Global catalogs of others may be out of reach.
async fn at_reasons(program: &Program, flag: &str) -> Result<()> {
    let ended = program.run(&["why", "kettle", "--catalog", flag, "-o", "json"]).await?;
    ensure!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let why: Value = serde_json::from_str(&ended.printed).context("why prints no JSON")?;
    ensure!(why["kind"] == "Why" && why["verdict"] == "AtHead", "{why:#}");
    ensure!(why["neededBy"][0]["csv"] == STOVE && why["generatedBy"].is_string(), "{why:#}");
    let text = program.run(&["why", "kettle", "--catalog", flag]).await?.printed;
    ensure!(text.contains("it has the newest version of its channel"), "{text}");
    Ok(())
}
