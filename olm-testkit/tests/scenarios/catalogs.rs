//! A Subscription to a catalog that is not there says so, and goes on when it comes.

use std::sync::Arc;

use anyhow::Result;
use olm_testkit::builders::{Bundle, Package, csv};

use crate::scene::{Scene, same};

fn packages(name: &str) -> [Package; 1] {
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
    [Package::single(name, Bundle::new("1.0.0", &csv))]
}

/// There is no catalog at all.
pub async fn the_only_one_is_missing(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.subscribe("late", "absent").await?;
    let health =
        scene.condition("late", "CatalogSourcesUnhealthy", "True", "NoCatalogSourcesFound");
    same(
        health.await?.message.as_deref(),
        "dependency resolution requires at least one catalogsource",
    )?;
    check_resolution(&scene, "late").await?;
    scene.catalog("absent", &packages("late")).await?;
    scene.succeeded("late.v1.0.0").await.map(drop)
}

/// There is a catalog, but not the one that is wanted.
pub async fn one_is_missing(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.catalog("present", &packages("other")).await?;
    scene.subscribe("late", "absent").await?;
    let health =
        scene.condition("late", "CatalogSourcesUnhealthy", "True", "UnhealthyCatalogSourceFound");
    let expected = format!("targeted catalogsource {}/absent missing", scene.namespace);
    same(health.await?.message.as_deref(), &expected)?;
    check_resolution(&scene, "late").await?;
    scene.catalog("absent", &packages("late")).await?;
    scene.succeeded("late.v1.0.0").await.map(drop)
}

async fn check_resolution(scene: &Scene, subscription: &str) -> Result<()> {
    let condition = scene
        .condition(subscription, "ResolutionFailed", "True", "ConstraintsNotSatisfiable")
        .await?;
    let expected = format!(
        "constraints not satisfiable: no operators found from catalog absent in namespace {} \
         referenced by subscription {subscription}, subscription {subscription} exists",
        scene.namespace
    );
    same(condition.message.as_deref(), &expected)
}
