//! The API server is away for a while; operators are asked to end while they work.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use olm_testkit::audit::AuditLog;
use olm_testkit::cluster::{ClusterBackend, client};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait::TIMEOUT;
use tokio::time::{Instant, sleep};

use super::install_and_upgrade;

/// How long the API server is away: longer than the retries of one call.
const AWAY: Duration = Duration::from_secs(4);

/// The same, longer than the longest pause between two tries to watch.
const AWAY_FOR_A_WHILE: Duration = Duration::from_secs(12);

/// The same, for minutes: longer than the longest pause between two tries of anything.
const AWAY_FOR_MINUTES: Duration = Duration::from_secs(130);

/// What each operator may log then, in lines: it tries again, and not all the time.
const MOST_LINES: usize = 4_000;

/// How often the API server is asked whether it is back.
const ASK: Duration = Duration::from_millis(100);

/// How often each operator is asked to end.
const ROUNDS: u64 = 3;

/// The operators work for so many milliseconds at most before the next one is asked to end. An
/// upgrade takes about a second.
const LONGEST: u64 = 600;

/// No server listens, while the catalog gets a newer version. What was watched is watched again
/// before the end is looked at: until then operators decide by what they saw before.
pub async fn killed(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    install_and_upgrade::begin(&ctx).await?;
    let watched = local.audit().watches(&Operator::NAMES)?;
    ensure!(!watched.is_empty(), "nothing was watched");
    local.cluster().kill_api_server()?;
    let mut audit = AuditLog::from_now(local.cluster().audit_log())?;
    let back = Instant::now() + AWAY;
    install_and_upgrade::publish(&ctx).await?;
    tokio::time::sleep_until(back).await;
    local.cluster().start_api_server()?;
    until_back(&local).await?;
    install_and_upgrade::arrive(&ctx).await?;
    audit.until_watched(&Operator::NAMES, watched, TIMEOUT).await?;
    install_and_upgrade::check_end(&ctx).await
}

/// Connections stay, and no server answers.
pub async fn frozen(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    install_and_upgrade::begin(&ctx).await?;
    local.cluster().freeze_api_server()?;
    let back = Instant::now() + AWAY;
    let published = install_and_upgrade::publish(&ctx).await;
    tokio::time::sleep_until(back).await;
    local.cluster().thaw_api_server()?;
    published?;
    install_and_upgrade::arrive(&ctx).await?;
    install_and_upgrade::check_end(&ctx).await
}

/// Connections are refused for a while.
pub async fn away(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    refused(&local, &ctx, AWAY_FOR_A_WHILE).await
}

/// The same for minutes.
pub async fn away_for_minutes(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    refused(&local, &ctx, AWAY_FOR_MINUTES).await
}

/// The operators say that no server answers, try again now and then, and go on when it is over,
/// without having been started again.
async fn refused(local: &Local, ctx: &TestContext, time: Duration) -> Result<()> {
    install_and_upgrade::begin(ctx).await?;
    let logs = || -> Result<Vec<String>> {
        Operator::ALL.iter().map(|operator| local.log(*operator)).collect()
    };
    let before = logs()?;
    let proxy = local.proxy()?;
    proxy.leave();
    let back = Instant::now() + time;
    let published = install_and_upgrade::publish(ctx).await;
    tokio::time::sleep_until(back).await;
    proxy.come_back();
    published?;
    let start = Instant::now();
    install_and_upgrade::arrive(ctx).await?;
    println!(
        "faults: {:.1} s from its return to the end of the upgrade",
        start.elapsed().as_secs_f64()
    );
    for (log, before) in logs()?.iter().zip(before) {
        let lines: Vec<&str> = log.lines().skip(before.lines().count()).collect();
        let reported = lines.iter().filter(|line| line.contains("watch interrupted, trying again"));
        ensure!(reported.count() > 0, "no operator reported that the API server was away");
        ensure!(lines.len() < MOST_LINES, "{} lines about it", lines.len());
    }
    install_and_upgrade::check_end(ctx).await
}

/// Both operators end when they are asked to, whatever they are doing, and others go on. The seed
/// says when; it was printed.
pub async fn terminated(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    install_and_upgrade::begin(&ctx).await?;
    install_and_upgrade::publish(&ctx).await?;
    let injector = &local.proxy()?.injector;
    for round in 0..ROUNDS {
        for operator in Operator::ALL {
            let moment = injector.chance(("terminated", round, operator.name()), LONGEST);
            sleep(Duration::from_millis(moment)).await;
            local.replace_operator(operator).await?;
        }
    }
    install_and_upgrade::arrive(&ctx).await?;
    install_and_upgrade::check_end(&ctx).await
}

async fn until_back(local: &Local) -> Result<()> {
    let client = client(&local.cluster().kubeconfig().await?).await?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match client.apiserver_version().await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(error.into()),
            Err(_) => sleep(ASK).await,
        }
    }
}
