//! What a first Subscription gets wrong.

use std::sync::Arc;

use anyhow::Result;

use super::{subscribe, subscription};
use crate::e2e::Scene;

pub(in super::super) async fn source(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let mut subscription = subscription(&scene, "plain");
    "pantrie".clone_into(&mut subscription.spec.source);
    scene.create(&subscription).await.map(drop)
}

pub(in super::super) async fn package(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let mut subscription = subscription(&scene, "plain");
    "plian".clone_into(&mut subscription.spec.name);
    scene.create(&subscription).await.map(drop)
}

pub(in super::super) async fn channel(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let mut subscription = subscription(&scene, "plain");
    subscription.spec.channel = Some("stabel".to_owned());
    scene.create(&subscription).await.map(drop)
}

/// An operator requires a kind that no operator provides.
pub(in super::super) async fn missing_kind(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    subscribe(&scene, "rider").await
}
