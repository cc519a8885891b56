//! The API server is away for a while; operators are told to end while they work.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use olm_testkit::cluster::{ClusterBackend, client};
use olm_testkit::e2e::Scene;
use olm_testkit::e2e::stage::local::Local;
use olm_testkit::operators::Operator;
use tokio::time::{Instant, sleep};

use super::story;

/// How long the API server is away: longer than the retries of one call.
const AWAY: Duration = Duration::from_secs(4);

/// How often the API server is asked whether it is back.
const ASK: Duration = Duration::from_millis(100);

/// Moments at which an operator is told to end, in milliseconds of its work on an upgrade. An
/// upgrade takes about a second.
const MOMENTS: [u64; 3] = [30, 170, 450];

/// Nobody listens, while the catalog gets a newer version.
pub async fn killed(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    story::begin(&scene).await?;
    local.cluster().kill_api_server()?;
    let back = Instant::now() + AWAY;
    story::publish(&scene).await?;
    tokio::time::sleep_until(back).await;
    local.cluster().start_api_server()?;
    until_back(&local).await?;
    story::arrive(&scene).await?;
    story::check_end(&scene).await
}

/// Connections stay, and nobody answers.
pub async fn frozen(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    story::begin(&scene).await?;
    local.cluster().freeze_api_server()?;
    let back = Instant::now() + AWAY;
    let published = story::publish(&scene).await;
    tokio::time::sleep_until(back).await;
    local.cluster().thaw_api_server()?;
    published?;
    story::arrive(&scene).await?;
    story::check_end(&scene).await
}

/// Both operators end when they are told to, whatever they are doing, and others go on.
pub async fn terminated(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    story::begin(&scene).await?;
    story::publish(&scene).await?;
    for moment in MOMENTS {
        for operator in Operator::ALL {
            sleep(Duration::from_millis(moment)).await;
            local.replace_operator(operator).await?;
        }
    }
    story::arrive(&scene).await?;
    story::check_end(&scene).await
}

async fn until_back(local: &Local) -> Result<()> {
    let client = client(&local.cluster().kubeconfig().await?).await?;
    let deadline = Instant::now() + olm_testkit::wait::PATIENCE;
    loop {
        match client.apiserver_version().await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(error.into()),
            Err(_) => sleep(ASK).await,
        }
    }
}
