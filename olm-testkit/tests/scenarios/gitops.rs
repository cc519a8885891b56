//! A tool that keeps a custom resource beside the Subscription of its operator, and a chart of operators, as
//! docs/gitops.md says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use olm_testkit::builders::{self, Bundle, Crd, Package, csv};
use olm_testkit::cluster::tools::Helm;
use olm_testkit::deploy;
use olm_testkit::e2e::TestContext;
use olm_testkit::kubectl::Kubectl;
use olm_testkit::peer::KStatus;
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, OperatorGroup, Subscription};
use serde_json::{Value, json};

/// Group, catalog, Subscription and custom resource are applied together, before their operator is there. The
/// custom resource is refused until the Subscription is Current to kstatus, and never after that.
pub async fn one_apply(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Kettle");
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let kubectl = Kubectl::of(&ctx.kubeconfig().await?)?;
    let kstatus = KStatus::ensure(&Progress::to_stderr())?;
    let file = manifests(&ctx, &kind, folder.path().join("shop.json")).await?;
    let file = file.to_str().context("a path that is no text")?;
    let apply = || {
        let manager = ["--server-side", "--field-manager", "argocd-controller", "-f", file];
        kubectl.run(&[&["apply"], &manager[..]].concat())
    };
    let refused = apply().err().context("a kind is known before its operator")?;
    ensure!(format!("{refused:#}").contains("no matches for kind"), "{refused:#}");

    let seen = Mutex::new(BTreeSet::new());
    let current = || async {
        let found: Subscription = ctx.api().get("kettle").await?;
        let found =
            named(serde_json::to_value(found)?, Subscription::API_VERSION, Subscription::KIND);
        let status = kstatus.of(&[found.to_string()])?.concat();
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(status.clone());
        ensure!(status == "Current", "it is {status}: {found}");
        anyhow::Ok(())
    };
    wait::until_ok("is Current", current).await?;
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_known = |status: &String| ["InProgress", "Current"].contains(&status.as_str());
    ensure!(seen.iter().all(is_known), "a tool that waits would have given up: {seen:?}");
    apply().context("the Subscription is Current, and its kind is not known")?;
    let namespace = ctx.namespace.as_str();
    let ready = ["wait", "-n", namespace, "--for=condition=Ready", "--timeout=1s"];
    kubectl.run(&[&ready[..], &["subscription/kettle", "catalogsource/kitchen"]].concat())?;
    ctx.succeeded("kettle.v1.0.0").await.map(drop)
}

async fn manifests(ctx: &TestContext, kind: &Crd, file: PathBuf) -> Result<PathBuf> {
    let namespace = ctx.namespace.as_str();
    let kettle = csv("kettle.v1.0.0", "1.0.0").owns(kind).deployment("kettle", "default");
    let bundle = Bundle::new("1.0.0", &kettle).provides(kind);
    let content = ctx.content(&[Package::single("kettle", bundle)])?;
    let address = ctx.registry("kitchen", content).await?;
    let group = builders::operator_group(namespace, "group", &[namespace]);
    let catalog = builders::catalog_source(namespace, "kitchen", &address);
    let subscription = builders::subscription(namespace, "kettle", "stable", "kitchen");
    let gvk = kind.gvk();
    let text = |field: &str| gvk[field].as_str().unwrap_or_default().to_owned();
    let custom = json!({
        "apiVersion": format!("{}/{}", text("group"), text("version")), "kind": text("kind"),
        "metadata": {"name": "mine", "namespace": namespace},
    });
    let items = [
        // Before its catalog: in any order.
        written(serde_json::to_value(subscription)?, Subscription::API_VERSION, Subscription::KIND),
        written(serde_json::to_value(catalog)?, CatalogSource::API_VERSION, CatalogSource::KIND),
        written(serde_json::to_value(group)?, OperatorGroup::API_VERSION, OperatorGroup::KIND),
        custom,
    ];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(&file, list.to_string()).context("cannot write a file")?;
    Ok(file)
}

fn named(mut object: Value, version: &str, kind: &str) -> Value {
    object["apiVersion"] = json!(version);
    object["kind"] = json!(kind);
    object
}

/// As a user writes it.
fn written(object: Value, version: &str, kind: &str) -> Value {
    let mut object = named(object, version, kind);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    object
}

/// The chart of the page, rendered by the real helm: each operator comes in the version of the values, and another
/// value is an upgrade that needs no other approval. An operator without a version is refused.
pub async fn helm_chart(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let chart = chart_of_the_page(folder.path())?;
    let helm = tokio::task::spawn_blocking(|| Helm::ensure(&Progress::to_stderr())).await??;
    helm.lint(&chart)?;
    ctx.catalog("kitchen", &[guestbook(&ctx)]).await?;
    let namespace = ctx.namespace.clone();
    let catalog = format!("catalog.namespace={namespace}");
    let rendered = |more: &str| {
        let values = ["catalog.name=kitchen", &catalog, more];
        helm.release("shop-operators", &namespace, &chart, &values)
    };
    let refused = rendered("operators.other.channel=stable").err();
    let refused = refused.context("an operator without a version is rendered")?.to_string();
    ensure!(refused.contains("each operator needs a version"), "{refused}");

    let kubectl = Kubectl::of(&ctx.kubeconfig().await?)?;
    let file = folder.path().join("rendered.yaml");
    let path = file.to_str().context("a path that is no text")?;
    let manager = ["apply", "-n", &namespace, "--server-side", "--field-manager", "helm"];
    let versions = [("catalog.name=kitchen", "guestbook.v1.1.0"), (NEWER, "guestbook.v1.2.0")];
    for (value, csv) in versions {
        std::fs::write(&file, rendered(value)?).context("cannot write what helm rendered")?;
        kubectl.run(&[&manager[..], &["-f", path]].concat())?;
        ctx.installed("guestbook", csv).await?;
        ctx.succeeded(csv).await?;
        ctx.condition("guestbook", "Ready", "True", "Succeeded").await?;
        ctx.until_idle().await?;
        ctx.installed("guestbook", csv).await?;
    }
    Ok(())
}

/// The value of an upgrade.
const NEWER: &str = "operators.guestbook.version=guestbook.v1.2.0";

/// Two versions of the operator that the values of the page name.
fn guestbook(ctx: &TestContext) -> Package {
    let kind = ctx.kind("Guestbook");
    let bundle = |version: &str| {
        let made = csv(&format!("guestbook.v{version}"), version).owns(&kind);
        Bundle::new(version, &made.deployment("guestbook", "default")).provides(&kind)
    };
    let newer = bundle("1.2.0").replaces("guestbook.v1.1.0");
    Package::new("guestbook").channel("stable", vec![bundle("1.1.0"), newer])
}

/// The files of the chart, each after a line with its path.
fn chart_of_the_page(folder: &Path) -> Result<PathBuf> {
    let page = deploy::folder().join("../docs/gitops.md");
    let page = std::fs::read_to_string(page).context("cannot read docs/gitops.md")?;
    let chart = folder.join("operators");
    std::fs::create_dir_all(chart.join("templates")).context("cannot create a folder")?;
    for name in ["Chart.yaml", "values.yaml", "templates/operators.yaml"] {
        let head = format!("\n`operators/{name}`:\n\n```yaml\n");
        let found = page.split_once(head.as_str());
        let (_, rest) = found.with_context(|| format!("the page has no operators/{name}"))?;
        let (text, _) = rest.split_once("\n```\n").context("a block without an end")?;
        std::fs::write(chart.join(name), format!("{text}\n")).context("cannot write the chart")?;
    }
    Ok(chart)
}
