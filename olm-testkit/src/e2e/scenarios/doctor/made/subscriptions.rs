//! Subscriptions and what they are bound to.

use std::sync::Arc;

use anyhow::Result;
use kube::api::DeleteParams;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::Value;

use super::super::catalog::{kind, operator};
use super::{define, installed, subscribe};
use crate::builders::{Bundle, Package};
use crate::e2e::Scene;
use crate::wait;

/// A CSV by hand owns the kind that the package provides.
pub(in super::super) async fn orphan(scene: Arc<Scene>) -> Result<()> {
    let mug = kind("orphan", "Mug");
    scene.operator_group().await?;
    define(&scene.client, &mug, Value::Null, Value::Null).await?;
    scene.create(&operator("mug", "0.9.0").owns(&mug).build()).await?;
    scene.succeeded("mug.v0.9.0").await?;
    subscribe(&scene, "mug").await
}

/// The catalog has a newer version, and no longer the one that is installed.
pub(in super::super) async fn behind(scene: Arc<Scene>) -> Result<()> {
    let only = |version: &str| {
        [Package::single("island", Bundle::new(version, &operator("island", version)))]
    };
    scene.operator_group().await?;
    scene.catalog("sea", &only("1.0.0")).await?;
    scene.subscribe("island", "sea").await?;
    scene.at_latest("island", "island.v1.0.0").await?;
    scene.publish("sea", &only("2.0.0")).await
}

pub(in super::super) async fn deprecated(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    subscribe(&scene, "old").await?;
    scene.succeeded("old.v1.0.0").await.map(drop)
}

/// What an operator required stays when it is uninstalled.
pub(in super::super) async fn for_nobody(scene: Arc<Scene>) -> Result<()> {
    let csv = installed(&scene, "tea").await?;
    scene.succeeded("pot.v1.0.0").await?;
    scene.api::<Subscription>().delete("tea", &DeleteParams::default()).await?;
    let csvs = scene.api::<ClusterServiceVersion>();
    csvs.delete(&csv, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, &csv).await
}
