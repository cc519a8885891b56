//! Conversion webhooks, on a cluster of their own: their operator watches all namespaces, and its
//! copies would be in the way of other scenarios.

use std::sync::Arc;

use anyhow::Result;
use olm_testkit::e2e::scenarios::servers;
use olm_testkit::e2e::{Provider, TestContext};

use crate::environment;

/// As on other clusters.
pub async fn conversion(_: Arc<TestContext>) -> Result<()> {
    alone("conversion", servers::conversion).await
}

/// As on other clusters.
pub async fn conversion_of_an_upgrade(_: Arc<TestContext>) -> Result<()> {
    alone("conversion-upgrade", servers::conversion_of_an_upgrade).await
}

/// Plays a scenario on a cluster that is named after it.
async fn alone<F>(purpose: &str, scenario: impl FnOnce(Arc<TestContext>) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let started = Arc::new(environment::start(purpose).await?);
    let name = format!("servers::{purpose}");
    let ctx = TestContext::new(Arc::clone(&started) as Arc<dyn Provider>, &name).await?;
    let played = match scenario(Arc::clone(&ctx)).await {
        Ok(()) => ctx.conclude_all_plans().await,
        failed => failed,
    };
    // A dead operator explains a failure better than what was waited for.
    let played = started.check().and(played);
    environment::end(&started).await.and(played)
}
