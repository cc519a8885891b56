//! Versions that an upgrade passes over.

use std::sync::Arc;

use anyhow::{Context, Result};
use olm_types::api::ClusterServiceVersion;

use super::{Story, kettle, kettles, stable};
use crate::builders::Bundle;
use crate::e2e::scene::{Scene, same};

const GOOD: &str = "kettle.v1.0.0";
const BAD: &str = "kettle.v1.1.0";
const FIXED: &str = "kettle.v1.2.0";

/// A bad version is in the catalog, and one that repairs it.
fn repaired(scene: &Scene) -> [Bundle; 3] {
    let kind = kettles(scene);
    [
        kettle("1.0.0", &kind),
        kettle("1.1.0", &kind).replaces(GOOD),
        kettle("1.2.0", &kind).replaces(GOOD).skips(&[BAD]),
    ]
}

/// Who does not have the bad version never gets it.
pub async fn a_bad_version_is_passed_over(scene: Arc<Scene>) -> Result<()> {
    let (story, versions) = (Story::begin(&scene).await?, repaired(&scene));
    scene.operator_group().await?;
    install(&scene, &versions[..1], GOOD).await?;
    scene.publish("kitchen", &stable(&versions)).await?;
    upgraded(&scene, &story, GOOD, FIXED).await
}

/// Who has the bad version gets rid of it.
pub async fn a_bad_version_is_repaired(scene: Arc<Scene>) -> Result<()> {
    let (story, versions) = (Story::begin(&scene).await?, repaired(&scene));
    scene.operator_group().await?;
    install(&scene, &versions[..2], BAD).await?;
    scene.publish("kitchen", &stable(&versions)).await?;
    upgraded(&scene, &story, BAD, FIXED).await
}

/// A version replaces all of a range, even those that its catalog does not know any more.
pub async fn a_range_of_versions(scene: Arc<Scene>) -> Result<()> {
    let (story, kind) = (Story::begin(&scene).await?, kettles(&scene));
    scene.operator_group().await?;
    install(&scene, &[kettle("1.0.0", &kind)], GOOD).await?;
    let head = kettle("1.2.0", &kind).skip_range(">=1.0.0 <1.2.0");
    scene.publish("kitchen", &stable(&[head])).await?;
    upgraded(&scene, &story, GOOD, FIXED).await
}

async fn install(scene: &Scene, versions: &[Bundle], head: &str) -> Result<()> {
    scene.catalog("kitchen", &stable(versions)).await?;
    scene.subscribe("kettle", "kitchen").await?;
    scene.succeeded(head).await?;
    scene.at_latest("kettle", head).await.map(drop)
}

/// One upgrade, directly from one version to the other.
async fn upgraded(scene: &Scene, story: &Story, old: &str, new: &str) -> Result<()> {
    scene.at_latest("kettle", new).await?;
    story.check_replacements(&[old, new]).await?;
    let way = [
        "- - - -".to_owned(),
        format!("UpgradePending {old} - 1"),
        format!("AtLatestKnown {old} {old} 1"),
        format!("UpgradePending {new} {old} 2"),
        format!("AtLatestKnown {new} {new} 2"),
    ];
    story.check_subscription("kettle", &way.each_ref().map(String::as_str)).await?;
    story.check_plans(scene, &[old, new]).await?;
    let csv: ClusterServiceVersion = scene.api().get(new).await.context("no new version")?;
    // Whatever the bundle says, the installed version is the one that is replaced.
    same(csv.spec.replaces.as_deref(), old)?;
    Ok(())
}
