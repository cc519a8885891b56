//! `kubectl olm install`, `upgrade` and `uninstall`: what was shown is done and followed to its end.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch,
    PatchParams, PostParams,
};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription};
use serde_json::{Value, json};

use super::program::Program;
use super::{NEW, OLD};
use crate::builders::Package;
use crate::e2e::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles};
use crate::wait;

const LAST: &str = "kettle.v1.2.0";

/// Without a terminal nothing is written unless a flag agrees. Then a version is installed, upgraded without waiting
/// for its end, upgraded once more, moved to a channel with nothing newer, and removed, each time with the plan that
/// was shown. A custom resource that something holds ends a removal.
pub(super) async fn to_the_end(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kind = kettles(&ctx);
    let [old, new, last] = ["1.0.0", "1.1.0", "1.2.0"].map(|version| kettle(version, &kind));
    let versions = vec![old, new.replaces(OLD), last.replaces(NEW)];
    let package = Package::new("kettle").channel("stable", versions.clone());
    let packages = [package.channel("calm", versions)];
    let content = ctx.content(&packages)?;
    let folder = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.catalog("kitchen", &packages).await?;
    let source = format!("{}/kitchen", ctx.namespace);
    let install = ["install", "kettle", "--source", &source, "--version", "1.0.0"];
    let flags = ["--approval", "Manual", "--install-mode", "OwnNamespace", "--catalog", &folder];
    let install = [&install[..], &flags[..]].concat();
    nothing_is_written(&ctx, &program, &install).await?;
    elsewhere(&ctx, &program, content.path()).await?;

    let installed = program.prints(&[&install[..], &["--yes"]].concat()).await?;
    ensure!(installed.contains("kettle.v1.0.0 has succeeded."), "{installed}");
    ctx.installed("kettle", OLD).await?;

    let upgrade = ["upgrade", "kettle", "--catalog", &folder, "--yes"];
    let plan = program.json(&[&upgrade[..], &["--dry-run=server"]].concat()).await?;
    ensure!(plan["kind"] == "Plan" && plan["action"] == "upgrade", "{plan:#}");
    let approved = program.prints(&[&upgrade[..], &["--wait=false"]].concat()).await?;
    ensure!(approved.contains("The InstallPlan of kettle.v1.1.0 is approved."), "{approved}");
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), OLD).await?;
    let upgraded = program.prints(&upgrade).await?;
    ensure!(upgraded.contains("kettle.v1.2.0 has succeeded."), "{upgraded}");
    ctx.at_latest("kettle", LAST).await?;
    let calm = program.prints(&[&upgrade[..], &["--channel", "calm"]].concat()).await?;
    ensure!(calm.contains("Subscription kettle follows channel calm."), "{calm}");
    ensure!(calm.contains("Nothing newer of kettle is in channel calm."), "{calm}");
    let subscription = ctx.api::<Subscription>().get("kettle").await?;
    ensure!(subscription.spec.channel.as_deref() == Some("calm"), "{subscription:?}");

    let plan = program.json(&["uninstall", "kettle", "--yes", "--dry-run=server"]).await?;
    ensure!(plan["kind"] == "Plan" && plan["action"] == "uninstall", "{plan:#}");
    held(&ctx, &program).await?;
    let removed = program.prints(&["uninstall", "kettle", "--operands=delete", "--yes"]).await?;
    ensure!(removed.contains("ClusterServiceVersion kettle.v1.2.0 deleted"), "{removed}");
    ensure!(removed.contains("stays"), "the CRD stays, and the report says so: {removed}");
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), LAST).await?;
    wait::until_gone(&ctx.api::<Subscription>(), "kettle").await?;
    in_a_namespace_to_come(&ctx, &program, content.path()).await
}

/// The namespace is made, and in it what the installation begins with. No catalog of it is connected, so nothing more
/// comes.
async fn in_a_namespace_to_come(
    ctx: &TestContext,
    program: &Program,
    content: &Path,
) -> Result<()> {
    let namespace = format!("{}-elsewhere", ctx.namespace);
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    let found = namespaces.get_opt(&namespace).await?;
    ensure!(found.is_none(), "a dry run has made it: {found:?}");
    let source = format!("{namespace}/kitchen");
    let folder = format!("{source}={}", content.display());
    let install = ["install", "kettle", "-n", &namespace, "--source", &source];
    let flags = ["--install-mode", "OwnNamespace", "--catalog", &folder, "--yes", "--wait=false"];
    let made = program.prints(&[&install[..], &flags[..]].concat()).await?;
    ensure!(made.contains(&format!("namespace/{namespace} created\n")), "{made}");
    namespaces.get(&namespace).await.context("the namespace is not there")?;
    let groups: Api<OperatorGroup> = Api::namespaced(ctx.client.clone(), &namespace);
    let groups = groups.list(&ListParams::default()).await?;
    let targets = groups.iter().map(|group| group.spec.target_namespaces.join(","));
    let targets: Vec<String> = targets.collect();
    ensure!(targets == [namespace.as_str()], "{targets:?}");
    let subscriptions: Api<Subscription> = Api::namespaced(ctx.client.clone(), &namespace);
    let subscription = subscriptions.get("kettle").await?;
    ensure!(subscription.spec.source_namespace == namespace, "{subscription:?}");
    namespaces.delete(&namespace, &DeleteParams::background()).await?;
    wait::until_gone(&namespaces, &namespace).await
}

/// A removal that does not come to its end says what holds it and what the doctor finds, and leaves the operator.
async fn held(ctx: &TestContext, program: &Program) -> Result<()> {
    let group = format!("{}.example.com", ctx.namespace);
    let gvk = GroupVersionKind::gvk(&group, "v1", "Kettle");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kettles");
    let kettles: Api<DynamicObject> =
        Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    let kettle = json!({"apiVersion": gvk.api_version(), "kind": "Kettle",
        "metadata": {"name": "mine", "finalizers": ["example.com/keep"]}, "spec": {"litres": 2}});
    let kettle: DynamicObject = serde_json::from_value(kettle)?;
    kettles.create(&PostParams::default(), &kettle).await.context("cannot make a kettle")?;
    let kept = program.run(&["uninstall", "kettle", "--operands=abort", "--yes"]).await?;
    kept.failed_with("there are 1 custom resources; --operands=keep leaves them")?;
    ensure!(kept.printed.contains("deletes the custom resources of all namespaces"), "{kept:?}");
    ctx.installed("kettle", LAST).await?;
    let remove = ["uninstall", "kettle", "--operands=delete", "--yes", "--timeout=1s"];
    let ended = program.run(&remove).await?;
    ensure!(ended.code == Some(4), "{ended:?}");
    ensure!(ended.printed.contains("Custom resources that are deleted, too:"), "{ended:?}");
    ensure!(ended.errors.contains("mine is not gone (finalizers: example.com/keep)"), "{ended:?}");
    let examined = ["The doctor finds nothing", "OLM0"].iter().any(|it| ended.errors.contains(it));
    ensure!(examined, "no doctor was asked: {ended:?}");
    ctx.installed("kettle", LAST).await?;
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let released = kettles.patch("mine", &PatchParams::default(), &patch).await;
    released.map(drop).context("cannot release the kettle")
}

/// Neither without an agreement, nor with another hash, nor in a dry run, nor as manifests.
async fn nothing_is_written(ctx: &TestContext, program: &Program, install: &[&str]) -> Result<()> {
    let with = |flags: &[&'static str]| [install, flags].concat();
    let refused = program.run(install).await?;
    ensure!(refused.code == Some(1) && refused.errors.contains("--yes"), "{refused:?}");
    let other = program.run(&with(&["--yes", "--plan-hash", "0"])).await?;
    ensure!(other.code == Some(1) && other.errors.contains("has changed"), "{other:?}");
    let shown = program.prints(&with(&["--dry-run"])).await?;
    ensure!(shown.contains("plan hash ") && shown.contains("Subscription"), "{shown}");
    let dry = program.prints(&with(&["--dry-run=server", "--yes"])).await?;
    ensure!(dry.contains("subscription/kettle created (server dry run)"), "{dry}");
    ensure!(dry.contains("the InstallPlan of kettle.v1.0.0 would be approved"), "{dry}");
    let manifests = program.prints(&with(&["-o", "json"])).await?;
    let manifests: Value = serde_json::from_str(&manifests)?;
    let kinds = manifests["items"].as_array().into_iter().flatten().map(|one| &one["kind"]);
    let kinds: Vec<&Value> = kinds.collect();
    ensure!(kinds == ["OperatorGroup", "Subscription"], "{manifests:#}");
    let yaml = program.prints(&with(&["-o", "yaml"])).await?;
    ensure!(yaml.contains("\n---\n") && yaml.contains("\nkind: Subscription\n"), "{yaml}");
    let subscriptions: Api<Subscription> = ctx.api();
    let found = subscriptions.get_opt("kettle").await?;
    ensure!(found.is_none(), "something was written: {found:?}");
    Ok(())
}

/// In a namespace that is still to come, nothing but the namespace can be tried, and that is no error.
async fn elsewhere(ctx: &TestContext, program: &Program, content: &Path) -> Result<()> {
    let namespace = format!("{}-elsewhere", ctx.namespace);
    let (source, folder) = (format!("{namespace}/kitchen"), content.display());
    let folder = format!("{source}={folder}");
    let install = ["install", "kettle", "-n", &namespace, "--source", &source];
    let flags = ["--install-mode", "OwnNamespace", "--catalog", &folder];
    let plan = program.json(&[&["plan"], &install[..], &flags[..]].concat()).await?;
    let changes = plan["changes"].as_array().context("the plan has no changes")?;
    let of_kind = |kind: &str| changes.iter().find(|one| one["kind"] == kind);
    let missing = format!("namespaces \"{namespace}\" not found");
    let subscription = of_kind("Subscription").context("the plan makes no Subscription")?;
    ensure!(subscription["notChecked"] == missing, "{subscription:#}");
    let made = of_kind("Namespace").context("the plan makes no Namespace")?;
    ensure!(made["notChecked"].is_null(), "{made:#}");
    let dry = ["--dry-run=server", "--yes"];
    let tried = program.prints(&[&install[..], &flags[..], &dry[..]].concat()).await?;
    ensure!(tried.contains(&format!("namespace/{namespace} created (server dry run)")), "{tried}");
    let why = format!("not checked by the API server (namespaces \"{namespace}\" not found)");
    for kind in ["operatorgroup/", "subscription/"] {
        let mut lines = tried.lines().filter(|line| line.starts_with(kind));
        ensure!(lines.any(|line| line.ends_with(&why)), "{kind}: {tried}");
    }
    Ok(())
}
