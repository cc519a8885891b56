//! Subscriptions and what they are bound to.

use std::sync::Arc;

use anyhow::Result;
use kube::api::DeleteParams;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::Value;

use super::super::catalog::{kind, operator};
use super::{define, installed, subscribe};
use crate::builders::{Bundle, Package};
use crate::e2e::TestContext;
use crate::wait;

/// A CSV by hand owns the kind that the package provides.
pub(in super::super) async fn orphan(ctx: Arc<TestContext>) -> Result<()> {
    let mug = kind("orphan", "Mug");
    ctx.operator_group().await?;
    define(&ctx.client, &mug, Value::Null, Value::Null).await?;
    ctx.create(&operator("mug", "0.9.0").owns(&mug).build()).await?;
    ctx.succeeded("mug.v0.9.0").await?;
    subscribe(&ctx, "mug").await
}

/// The catalog has a newer version, and no longer the one that is installed.
pub(in super::super) async fn behind(ctx: Arc<TestContext>) -> Result<()> {
    let only = |version: &str| {
        [Package::single("island", Bundle::new(version, &operator("island", version)))]
    };
    ctx.operator_group().await?;
    ctx.catalog("sea", &only("1.0.0")).await?;
    ctx.subscribe("island", "sea").await?;
    ctx.at_latest("island", "island.v1.0.0").await?;
    ctx.publish("sea", &only("2.0.0")).await
}

pub(in super::super) async fn deprecated(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    subscribe(&ctx, "old").await?;
    ctx.succeeded("old.v1.0.0").await.map(drop)
}

/// What an operator required stays when it is uninstalled.
pub(in super::super) async fn unneeded(ctx: Arc<TestContext>) -> Result<()> {
    let csv = installed(&ctx, "tea").await?;
    ctx.succeeded("pot.v1.0.0").await?;
    ctx.api::<Subscription>().delete("tea", &DeleteParams::default()).await?;
    let csvs = ctx.api::<ClusterServiceVersion>();
    csvs.delete(&csv, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, &csv).await
}
