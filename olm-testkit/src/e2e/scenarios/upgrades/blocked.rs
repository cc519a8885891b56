//! An upgrade that cannot be.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::api::{Api, ListParams};
use olm_types::api::{ClusterServiceVersion, InstallPlan};

use super::{Story, kettle, kettles, stable};
use crate::builders::{Bundle, Package};
use crate::e2e::scenarios::install::operator;
use crate::e2e::scene::Scene;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// The newer version needs a kind that no operator provides: the old one stays at work, no plan is
/// made, and the Subscription says why. The upgrade follows once an operator provides the kind.
pub async fn a_missing_api(scene: Arc<Scene>) -> Result<()> {
    let (story, kind) = (Story::begin(&scene).await?, kettles(&scene));
    let taps = scene.kind("Tap");
    let new = operator("kettle", "1.1.0", &kind).requires(&taps);
    let new = Bundle::new("1.1.0", &new).provides(&kind).requires(&taps).replaces(OLD);
    let kettles = [kettle("1.0.0", &kind), new];
    scene.operator_group().await?;
    scene.catalog("kitchen", &stable(&kettles[..1])).await?;
    scene.subscribe("kettle", "kitchen").await?;
    scene.succeeded(OLD).await?;
    scene.at_latest("kettle", OLD).await?;

    let [kettle] = stable(&kettles);
    scene.publish("kitchen", &[kettle.clone(), small("spoon")]).await?;
    // The namespace was resolved with the new catalog when another Subscription to it is installed.
    scene.subscribe("spoon", "kitchen").await?;
    scene.succeeded("spoon.v1.0.0").await?;
    scene.at_latest("spoon", "spoon.v1.0.0").await?;
    scene.installed("kettle", OLD).await?;
    check_nothing_started(&scene).await?;
    check_reported(&scene).await?;
    scene.at_rest().await?;

    let tap = Bundle::new("1.0.0", &operator("tap", "1.0.0", &taps)).provides(&taps);
    scene.publish("kitchen", &[kettle, small("spoon"), Package::single("tap", tap)]).await?;
    scene.succeeded("tap.v1.0.0").await?;
    scene.succeeded(NEW).await?;
    let kettle = scene.at_latest("kettle", NEW).await?;
    let conditions = kettle.status.map(|status| status.conditions).unwrap_or_default();
    ensure!(
        !conditions.iter().any(|condition| condition.type_ == "UpgradeBlocked"),
        "the upgrade is done and reported as blocked: {conditions:?}"
    );
    story.check_chain(&[OLD, NEW]).await
}

async fn check_reported(scene: &Scene) -> Result<()> {
    let (condition, reason) = ("UpgradeBlocked", "ConstraintsNotSatisfiable");
    let reported = scene.condition("kettle", condition, "True", reason).await?;
    let why = reported.message.unwrap_or_default();
    let expected = format!("{OLD} is not upgraded to {NEW} (channel ");
    let is_reported =
        why.starts_with(&expected) && why.contains(" requires a provider of the API Tap ");
    ensure!(is_reported, "{why:?}");
    Ok(())
}

async fn check_nothing_started(scene: &Scene) -> Result<()> {
    scene.succeeded(OLD).await?;
    let csvs: Api<ClusterServiceVersion> = scene.api();
    ensure!(csvs.get_opt(NEW).await?.is_none(), "the upgrade has started");
    let plans = scene.api::<InstallPlan>().list(&ListParams::default()).await?;
    let names = plans.items.iter().flat_map(|plan| &plan.spec.cluster_service_version_names);
    let names: Vec<&String> = names.collect();
    ensure!(!names.iter().any(|name| *name == NEW), "there are plans for {names:?}");
    Ok(())
}

fn small(name: &str) -> Package {
    let csv = crate::builders::csv(&format!("{name}.v1.0.0"), "1.0.0");
    Package::single(name, Bundle::new("1.0.0", &csv.deployment(name, "default")))
}
