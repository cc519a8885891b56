//! A Subscription to a catalog that is not there says so, and goes on when it comes.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "catalogs::the_only_one_is_missing",
            "a Subscription waits for the only catalog to come",
            the_only_one_is_missing,
        ),
        scenario(
            "catalogs::one_is_missing",
            "a Subscription waits for its catalog beside another one",
            one_is_missing,
        ),
    ]
}

fn packages(name: &str) -> [Package; 1] {
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
    [Package::single(name, Bundle::new("1.0.0", &csv))]
}

/// There is no catalog at all.
async fn the_only_one_is_missing(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.subscribe("late", "absent").await?;
    let health = ctx.condition("late", "CatalogSourcesUnhealthy", "True", "NoCatalogSourcesFound");
    same(
        health.await?.message.as_deref(),
        "dependency resolution requires at least one catalogsource",
    )?;
    check_resolution(&ctx, "late").await?;
    ctx.catalog("absent", &packages("late")).await?;
    ctx.succeeded("late.v1.0.0").await.map(drop)
}

/// There is a catalog, but not the one that is wanted.
async fn one_is_missing(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("present", &packages("other")).await?;
    ctx.subscribe("late", "absent").await?;
    let health =
        ctx.condition("late", "CatalogSourcesUnhealthy", "True", "UnhealthyCatalogSourceFound");
    let expected = format!("targeted catalogsource {}/absent missing", ctx.namespace);
    same(health.await?.message.as_deref(), &expected)?;
    check_resolution(&ctx, "late").await?;
    ctx.catalog("absent", &packages("late")).await?;
    ctx.succeeded("late.v1.0.0").await.map(drop)
}

async fn check_resolution(ctx: &TestContext, subscription: &str) -> Result<()> {
    let condition = ctx
        .condition(subscription, "ResolutionFailed", "True", "ConstraintsNotSatisfiable")
        .await?;
    let expected = format!(
        "constraints not satisfiable: no operators found from catalog absent in namespace {} \
         referenced by subscription {subscription}, subscription {subscription} exists",
        ctx.namespace
    );
    let message = condition.message.unwrap_or_default();
    let ours = message.strip_prefix(&expected).unwrap_or_default();
    ensure!(ours.starts_with(&format!(". Subscription {subscription} asks for ")), "{message:?}");
    Ok(())
}
