//! Conversion webhooks, on a cluster of their own: their operator watches all namespaces, and its
//! copies would be in the way of other scenarios.

use std::sync::Arc;

use anyhow::Result;
use olm_testkit::e2e::scenarios::servers;
use olm_testkit::e2e::{Scene, Stage};

use crate::environment;

/// As on other clusters.
pub async fn conversion(_: Arc<Scene>) -> Result<()> {
    alone("conversion", servers::conversion).await
}

/// As on other clusters.
pub async fn conversion_of_an_upgrade(_: Arc<Scene>) -> Result<()> {
    alone("conversion-upgrade", servers::conversion_of_an_upgrade).await
}

/// Plays a scenario on a cluster that is named after it.
async fn alone<F>(purpose: &str, scenario: impl FnOnce(Arc<Scene>) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let started = Arc::new(environment::start(purpose).await?);
    let name = format!("servers::{purpose}");
    let scene = Scene::new(Arc::clone(&started) as Arc<dyn Stage>, &name).await?;
    let played = scenario(scene).await;
    // A dead operator explains a failure better than what was waited for.
    let played = started.check().and(played);
    started.end().await.and(played)
}
