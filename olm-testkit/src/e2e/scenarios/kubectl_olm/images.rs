//! `kubectl olm` where containers run: catalogs in Pods, bundles in images, logs, and an author's bundle.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_types::api::{CatalogSource, ClusterServiceVersion, Subscription};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::plan::same_steps;
use super::program::Program;
use super::waiting_plan;
use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::TestContext;
use crate::e2e::scenarios::{catalog_images, unpack};
use crate::wait;

const CSV: &str = "urn.v1.0.0";

/// What a plan is made of; a `*` would hold subresources as well.
const READ: [&str; 23] = [
    "catalogsources",
    "clusterrolebindings",
    "clusterroles",
    "clusterserviceversions",
    "configmaps",
    "customresourcedefinitions",
    "deployments",
    "installplans",
    "jobs",
    "mutatingwebhookconfigurations",
    "namespaces",
    "olmconfigs",
    "operatorconditions",
    "operatorgroups",
    "operators",
    "packagemanifests",
    "pods",
    "rolebindings",
    "roles",
    "serviceaccounts",
    "services",
    "subscriptions",
    "validatingwebhookconfigurations",
];

/// Nothing is named on the command line: the catalog is asked through a port-forward to its Pod, once for its
/// image, and the bundle comes out of its image. Who may not forward ports gets the name of that right.
/// What was shown is installed, and its logs are read.
pub(super) async fn of_pods_and_images(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let pushed = unpack::push(&ctx, "urn").await?;
    let package = Package::single("urn", bundle().in_image(&pushed.pinned()));
    let image = catalog_images::push_packages(&ctx, &[package]).await?;
    let source = json!({"metadata": {"name": "shelf", "namespace": ctx.namespace}, "spec": {
        "sourceType": "grpc", "image": image,
        "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}}}});
    ctx.create(&serde_json::from_value::<CatalogSource>(source)?).await?;
    wait::until_connected(&ctx.api(), "shelf").await?;

    let cache = tempfile::tempdir().context("no folder for the cache")?;
    let (cache, source) = (cache.path().display().to_string(), format!("{}/shelf", ctx.namespace));
    let registry = ctx.facts().registry.clone().context("no registry")?;
    let mirror = format!("example.com={registry}");
    let plan = ["plan", "install", "urn", "--source", &source, "--install-mode", "OwnNamespace"];
    let flags = ["--approval", "Manual", "--mirror", &mirror, "--insecure-registry", &registry];
    let plan = [&plan[..], &flags[..], &["--cache-dir", &cache]].concat();
    let shown = program.json(&plan).await?;
    ensure!(shown["hops"][0]["bundles"][0]["csv"] == CSV, "{shown:#}");
    for shelf in ["catalogs", "bundles"] {
        let kept = std::fs::read_dir(format!("{cache}/{shelf}")).map(Iterator::count);
        ensure!(
            kept.is_ok_and(|kept| kept == 1),
            "{shelf} were not kept: {}",
            statuses(&ctx).await?
        );
    }
    ensure!(shown == program.json(&plan).await?, "what was kept says something else");
    without_the_right(&ctx, &program, &plan[..7]).await?;

    ctx.operator_group().await?;
    let mut subscription = builders::subscription(&ctx.namespace, "urn", "stable", "shelf");
    subscription.spec.install_plan_approval = Some(olm_types::api::Approval::Manual);
    ctx.create(&subscription).await?;
    same_steps(&shown["hops"][0], &waiting_plan(&ctx, "urn").await?)?;
    let upgraded =
        ["upgrade", "urn", "--yes", "--mirror", &mirror, "--insecure-registry", &registry];
    program.prints(&upgraded).await?;
    ctx.succeeded(CSV).await?;
    let logs = program.run(&["logs", "urn", "--tail", "5"]).await?;
    ensure!(logs.code == Some(0), "{logs:?}");
    program.prints(&["uninstall", "urn", "--yes"]).await.map(drop)
}

/// What the kubelet says of the containers here.
async fn statuses(ctx: &TestContext) -> Result<String> {
    let pods = ctx.api::<Pod>().list(&ListParams::default()).await?;
    let statuses: Vec<_> = pods.items.iter().filter_map(|pod| pod.status.as_ref()).collect();
    Ok(serde_json::to_string(&statuses)?)
}

/// A reader of everything may not forward ports: that takes a subresource.
async fn without_the_right(ctx: &TestContext, program: &Program, plan: &[&str]) -> Result<()> {
    let name = format!("{}-reader", ctx.namespace);
    let role = json!({"metadata": {"name": name}, "rules": [
        {"apiGroups": ["*"], "resources": READ, "verbs": ["get", "list"]}]});
    let binding = json!({"metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]});
    let roles: Api<ClusterRole> = Api::all(ctx.client.clone());
    roles.create(&PostParams::default(), &serde_json::from_value(role)?).await?;
    let bindings: Api<ClusterRoleBinding> = Api::all(ctx.client.clone());
    bindings.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
    let words = [plan, &["--as", &name, "--cache-dir", "", "--no-pull", "-o", "json"]].concat();
    let ended = program.run(&words).await?;
    remove(&ctx.client, &name).await?;
    // Nor does the packages API show it: its catalog leaves all manifests to the image.
    ensure!(ended.code == Some(1), "{ended:?}");
    ended.failed_with("no right to get and create pods/portforward for Pod shelf-")
}

async fn remove(client: &Client, name: &str) -> Result<()> {
    Api::<ClusterRole>::all(client.clone()).delete(name, &DeleteParams::default()).await?;
    let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
    bindings.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

/// From a folder or an image to a running operator, and back to nothing.
pub(super) async fn of_an_author(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let version = program.json(&["version"]).await?;
    let flavour = if ctx.facts().is_v0 { "OLM v0" } else { "olm-rs" };
    ensure!(version["olm"][0]["flavour"] == flavour, "{version:#}");
    let folder = written(&ctx)?;
    run(&ctx, &program, &[&folder.path().display().to_string()]).await?;

    let image = unpack::push(&ctx, "urn").await?.pinned();
    let registry = ctx.facts().registry.clone().context("no registry")?;
    let mirror = format!("example.com={registry}");
    run(&ctx, &program, &[&image, "--mirror", &mirror, "--insecure-registry", &registry]).await
}

/// A folder with the bundle.
fn written(ctx: &TestContext) -> Result<TempDir> {
    let folder = tempfile::tempdir().context("no folder for the bundle")?;
    for (path, text) in bundle().files("urn") {
        let text = match serde_json::from_str::<Value>(&text) {
            Ok(manifest) => ctx.dressed(manifest).to_string(),
            Err(_) => text,
        };
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().context("a file without a folder")?)?;
        std::fs::write(file, text)?;
    }
    Ok(folder)
}

/// Runs a bundle, as the command line names it, and cleans up.
async fn run(ctx: &TestContext, program: &Program, named: &[&str]) -> Result<()> {
    let run = [&["run", "bundle"], named, &["--install-mode", "OwnNamespace"]].concat();
    let refused = program.run(&run).await?;
    ensure!(refused.code == Some(1) && refused.errors.contains("--yes"), "{refused:?}");
    let ran = program.prints(&[&run[..], &["--yes"]].concat()).await?;
    ensure!(ran.contains(&format!("{CSV} has succeeded")), "{ran}");
    ctx.succeeded(CSV).await?;
    let again = program.run(&[&run[..], &["--yes"]].concat()).await?;
    again.failed_with("kubectl olm cleanup urn")?;

    program.prints(&["cleanup", "urn", "--yes"]).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), CSV).await?;
    wait::until_gone(&ctx.api::<Subscription>(), "urn").await?;
    wait::until_gone(&ctx.api::<CatalogSource>(), "urn-catalog").await?;
    let (pods, all) = (&ctx.api::<Pod>(), &ListParams::default());
    wait::until_ok("has no Pods left", || async move {
        let left = pods.list(all).await?.items.len();
        ensure!(left == 0, "{left} are left");
        Ok::<_, anyhow::Error>(())
    })
    .await
}

fn bundle() -> Bundle {
    Bundle::new("1.0.0", &csv(CSV, "1.0.0").deployment("urn", "default"))
}
