//! An upgrade that waits until a user approves it.

use anyhow::{Context, Result, ensure};
use kube::api::Api;
use kube::{Client, ResourceExt};
use olm_types::api::{ClusterServiceVersion, InstallPlanPhase};
use serde_json::json;
use tokio::time::Instant;

use super::install::{NAMESPACE, PACKAGE};
use super::phases;
use super::setup::Setup;
use super::subscription;
use super::timeline::Timeline;
use super::tool::Tool;

/// Where the newer version is.
const CHANNEL: &str = "candidate";

/// What runs, and what takes its place.
const OLD: &str = "guestbook.v1.2.0";
const NEW: &str = "guestbook.v1.3.0";

/// Switches the channel under manual approval, approves, and follows the hand-over.
pub(super) async fn given(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter(&format!("An upgrade from channel {CHANNEL}, approval is Manual"));
    let client = &setup.client;
    let follower = phases::follow(*timeline, client, NAMESPACE).await?;
    let spec = json!({"channel": CHANNEL, "installPlanApproval": "Manual"});
    subscription::change(client, spec).await?;
    timeline.event("Subscription", format!("{PACKAGE} moved to channel {CHANNEL}"));
    let plan = subscription::plan(client, NEW, "wait for approval", |plan| {
        plan.status.as_ref().is_some_and(|s| s.phase == InstallPlanPhase::RequiresApproval)
    });
    let plan = plan.await?.name_any();
    timeline.event("InstallPlan", format!("{plan} waits for approval: {NEW}"));
    check_nothing_started(client).await?;
    timeline.detail(format!("{OLD} runs on, nothing was installed"));
    let hash = shown(timeline, setup).await?;
    let started = Instant::now();
    let approve = ["approve", PACKAGE, "1.3.0", "--yes", "--plan-hash", &hash];
    Tool::of(setup, NAMESPACE).shown(timeline, &approve, |line| line.contains("approved")).await?;
    subscription::at_latest(client, NEW).await?;
    follower.until_replaced(&[OLD, NEW]).await?;
    let seconds = started.elapsed().as_secs_f32();
    timeline.event("done", format!("{seconds:.1} s from approval until {OLD} was gone"));
    Ok(())
}

/// What the upgrade would do, and the hash of what waits.
async fn shown(timeline: &Timeline, setup: &Setup) -> Result<String> {
    let tool = Tool::of(setup, NAMESPACE);
    let plan = tool.shown(timeline, &["plan", "upgrade", PACKAGE], |line| {
        !line.starts_with("    ") && !line.starts_with("  +") && !line.starts_with("plan hash")
    });
    let plan = plan.await?;
    ensure!(plan.contains(NEW) && !plan.contains("unknown:"), "the plan is another one");
    let waiting = tool.json(&["approve", PACKAGE, "1.3.0", "--dry-run"]).await?;
    let hash = waiting["planHash"].as_str().context("what waits has no hash")?;
    Ok(hash.to_owned())
}

async fn check_nothing_started(client: &Client) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), NAMESPACE);
    let early = csvs.get_opt(NEW).await.context("cannot look for the new version")?;
    ensure!(early.is_none(), "{NEW} was installed without approval");
    Ok(())
}
