//! What a first Subscription gets wrong.

use std::sync::Arc;

use anyhow::Result;

use super::{subscribe, subscription};
use crate::e2e::TestContext;

pub(in super::super) async fn source(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let mut subscription = subscription(&ctx, "plain");
    "pantrie".clone_into(&mut subscription.spec.source);
    ctx.create(&subscription).await.map(drop)
}

pub(in super::super) async fn package(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let mut subscription = subscription(&ctx, "plain");
    "plian".clone_into(&mut subscription.spec.name);
    ctx.create(&subscription).await.map(drop)
}

pub(in super::super) async fn channel(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let mut subscription = subscription(&ctx, "plain");
    subscription.spec.channel = Some("stabel".to_owned());
    ctx.create(&subscription).await.map(drop)
}

/// An operator requires a kind that no operator provides.
pub(in super::super) async fn missing_kind(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    subscribe(&ctx, "rider").await
}
