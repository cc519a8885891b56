//! A Subscription changes its mind.

use std::sync::Arc;

use anyhow::{Context, Result};
use kube::api::{Api, Patch, PatchParams};
use olm_types::api::Subscription;
use serde_json::json;

use super::{Story, kettle, kettles};
use crate::builders::Package;
use crate::e2e::scene::Scene;

/// Another channel has a newer version.
pub async fn switch_to_a_faster_one(scene: Arc<Scene>) -> Result<()> {
    let (story, kind) = (Story::begin(&scene).await?, kettles(&scene));
    let old = kettle("1.0.0", &kind);
    let new = kettle("2.0.0", &kind).replaces("kettle.v1.0.0");
    let package =
        Package::new("kettle").channel("stable", vec![old.clone()]).channel("fast", vec![old, new]);
    scene.operator_group().await?;
    scene.catalog("kitchen", &[package]).await?;
    scene.subscribe("kettle", "kitchen").await?;
    scene.succeeded("kettle.v1.0.0").await?;
    scene.at_latest("kettle", "kettle.v1.0.0").await?;

    let subscriptions: Api<Subscription> = scene.api();
    let fast = Patch::Merge(json!({"spec": {"channel": "fast"}}));
    subscriptions.patch("kettle", &PatchParams::default(), &fast).await.context("cannot switch")?;
    scene.at_latest("kettle", "kettle.v2.0.0").await?;
    story.check_replacements(&["kettle.v1.0.0", "kettle.v2.0.0"]).await?;
    story.check_plans(&scene, &["kettle.v1.0.0", "kettle.v2.0.0"]).await
}
