//! A tool that keeps a custom resource beside the Subscription of its operator, as docs/gitops.md says.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use olm_testkit::builders::{self, Bundle, Crd, Package, csv};
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
