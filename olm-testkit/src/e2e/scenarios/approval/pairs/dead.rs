//! Each annotation where the catalog does not answer at first.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::ListParams;
use olm_types::api::{CatalogSource, InstallPlan};
use serde_json::json;

use super::super::creations::Creations;
use super::{CLOSED, Row, apply, package, rows, stage};
use crate::builders::{self, Package};
use crate::e2e::context::TestContext;

/// While the catalog does not answer nothing is planned, whatever is declared; then each gets what it declares.
pub(super) async fn pairs_dead_catalog(ctx: Arc<TestContext>) -> Result<()> {
    let mut created = Creations::begin(&ctx)?;
    ctx.operator_group().await?;
    ctx.create(&builders::catalog_source(&ctx.namespace, "kitchen", CLOSED)).await?;
    for row in rows::DEAD {
        apply(&ctx, row, &row.first).await?;
    }
    for row in rows::DEAD {
        waits(&ctx, row).await.with_context(|| format!("Subscription {}", row.name))?;
    }
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    ensure!(plans.is_empty(), "there are {} plans", plans.len());

    let packages: Vec<Package> = rows::DEAD.iter().map(|row| package(row.name, "")).collect();
    let address = ctx.registry("kitchen", ctx.content(&packages)?).await?;
    ctx.edit::<CatalogSource>("kitchen", json!({"spec": {"address": address}})).await?;
    stage(&ctx, rows::DEAD, |row| row.then, "", &mut created).await
}

/// Waits until a Subscription says what it waits for: the catalog, or the end of its pause.
async fn waits(ctx: &TestContext, row: &Row) -> Result<()> {
    let (kind, reason) = match row.first.held {
        Some(reason) => ("UpgradeHeld", reason),
        None => ("ResolutionFailed", "ErrorPreventedResolution"),
    };
    ctx.condition(row.name, kind, "True", reason).await.map(drop)
}
