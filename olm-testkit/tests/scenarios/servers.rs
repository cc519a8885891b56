//! A conversion webhook, on a cluster of its own: its operator watches all namespaces, and its
//! copies would be in the way of other scenarios.

use std::sync::Arc;

use anyhow::Result;
use olm_testkit::e2e::scenarios::servers;
use olm_testkit::e2e::{Scene, Stage};

use crate::environment;

/// As on other clusters.
pub async fn conversion(_: Arc<Scene>) -> Result<()> {
    let started = Arc::new(environment::start("conversion").await?);
    let scene = Scene::new(Arc::clone(&started) as Arc<dyn Stage>, "servers::conversion").await?;
    let played = servers::conversion(Arc::clone(&scene)).await;
    // A dead operator explains a failure better than what was waited for.
    let played = started.check().and(played);
    started.end().await.and(played)
}
