//! InstallPlans.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use olm_types::api::{Approval, InstallPlan, InstallPlanPhase, Subscription};
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

use super::super::catalog::operator;
use super::{installed, patch, subscribe, subscription};
use crate::builders::{Bundle, Crd, Package};
use crate::e2e::TestContext;
use crate::kubelet::Kubelet;
use crate::operators::Binaries;
use crate::wait;

const IMAGE: &str = "bundles.example.com/doctor:v1";

/// A Job that unpacks an image fails.
pub(in super::super) async fn unpacking(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let program = Binaries::beside_this_executable(&std::env::temp_dir())?.program("olm-registry");
    let kubeconfig = ctx.kubeconfig().await?;
    let kubelet = Kubelet::begin(&ctx.client, &ctx.namespace, kubeconfig, program).await?;
    let bundle = Bundle::new("1.0.0", &operator("packed", "1.0.0")).in_image(IMAGE);
    ctx.catalog("boxes", &[Package::single("packed", bundle)]).await?;
    ctx.subscribe("packed", "boxes").await?;
    let made = |_: &Job| true;
    let job = wait::until(&ctx.api(), &unpack_name(IMAGE), "be made", made).await?;
    kubelet.fail(&job, "BackoffLimitExceeded", "the image was not found").await
}

pub(in super::super) async fn approval(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    manual(&ctx, "plain").await
}

/// What a user deletes to tidy up.
pub(in super::super) async fn deleted(ctx: Arc<TestContext>) -> Result<()> {
    let csv = installed(&ctx, "plain").await?;
    let subscription = ctx.installed("plain", &csv).await?;
    let plan = ctx.plan_of(&subscription).await?.name_any();
    let plans = ctx.api::<InstallPlan>();
    plans.delete(&plan, &DeleteParams::default()).await.map(drop).context("cannot delete a plan")
}

/// Both need the same operator, and are there before anything is resolved, so that one plan is for both.
pub(in super::super) async fn held_back(ctx: Arc<TestContext>) -> Result<()> {
    manual(&ctx, "fork").await?;
    subscribe(&ctx, "knife").await?;
    ctx.operator_group().await
}

/// A bundle has an object of a kind that the cluster does not have.
pub(in super::super) async fn step(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    subscribe(&ctx, "monitored").await
}

/// The next version serves and stores another version of its kind alone.
pub(in super::super) async fn stored(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Jar");
    let (old, new) = (version("v1", 10), version("v2", 10));
    let old = jar(&kind, "1.0.0", &old);
    upgrade(&ctx, &kind, [old, jar(&kind, "1.1.0", &new).replaces("jar.v1.0.0")]).await
}

/// The next version does not accept an object that is there.
pub(in super::super) async fn invalid(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Jar");
    let (old, new) = (version("v1", 10), version("v1", 5));
    let old = jar(&kind, "1.0.0", &old);
    upgrade(&ctx, &kind, [old, jar(&kind, "1.1.0", &new).replaces("jar.v1.0.0")]).await
}

/// The plan outlives its Subscription, and is approved then.
pub(in super::super) async fn left(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    manual(&ctx, "plain").await?;
    let waits = |plan: &InstallPlan| plan.phase() == InstallPlanPhase::RequiresApproval;
    let plans = ctx.api::<InstallPlan>();
    let plan = wait::until_some(&plans, "", "wait for approval", waits).await?.name_any();
    patch(&plans, &plan, json!({"metadata": {"ownerReferences": null}})).await?;
    let subscriptions = ctx.api::<Subscription>();
    subscriptions.delete("plain", &DeleteParams::default()).await?;
    wait::until_gone(&subscriptions, "plain").await?;
    patch(&plans, &plan, json!({"spec": {"approved": true}})).await
}

/// v0 does nothing with a plan that it did not make.
pub(in super::super) async fn ignored(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let plan = json!({"metadata": {"name": "install-by-hand", "namespace": ctx.namespace},
        "spec": {"approval": "Manual", "approved": true, "clusterServiceVersionNames": ["plain.v1.0.0"]}});
    let plan: InstallPlan = serde_json::from_value(plan).context("a malformed plan")?;
    ctx.create(&plan).await.map(drop)
}

async fn manual(ctx: &TestContext, package: &str) -> Result<()> {
    let mut subscription = subscription(ctx, package);
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    ctx.create(&subscription).await.map(drop)
}

/// Installs the first version with an object of its kind, then offers the second.
async fn upgrade(ctx: &TestContext, kind: &Crd, versions: [Bundle; 2]) -> Result<()> {
    let package = |versions: &[Bundle]| [Package::new("jar").channel("stable", versions.to_vec())];
    ctx.operator_group().await?;
    ctx.catalog("jars", &package(&versions[..1])).await?;
    ctx.subscribe("jar", "jars").await?;
    ctx.succeeded("jar.v1.0.0").await?;
    let gvk = kind.gvk();
    let group = gvk["group"].as_str().unwrap_or_default();
    let resource =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", "Jar"), "jars");
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": "Jar",
        "metadata": {"name": "big"}, "spec": {"size": 9}});
    let object: DynamicObject = serde_json::from_value(object).context("a malformed jar")?;
    let jars = Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    jars.create(&PostParams::default(), &object).await.context("cannot make a jar")?;
    ctx.publish("jars", &package(&versions)).await
}

/// A bundle that brings one version of its kind.
fn jar(kind: &Crd, number: &str, version: &Value) -> Bundle {
    let (mut manifest, mut gvk) = (kind.manifest(), kind.gvk());
    manifest["spec"]["versions"] = json!([version]);
    gvk["version"] = version["name"].clone();
    let owned = version["name"].as_str().unwrap_or_default().to_owned();
    let operator = operator("jar", number).owns(kind).with(move |csv| {
        let crds = csv.spec.customresourcedefinitions.get_or_insert_default();
        crds.owned.iter_mut().for_each(|crd| crd.version.clone_from(&owned));
    });
    Bundle::new(number, &operator).property("olm.gvk", gvk).manifest(manifest)
}

fn version(name: &str, max: i64) -> Value {
    let size = json!({"type": "integer", "maximum": max});
    let spec = json!({"type": "object", "properties": {"size": size}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}
