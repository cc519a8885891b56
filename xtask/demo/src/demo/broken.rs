//! An upgrade that gets stuck, what a person reads then, and what happens when the cause is gone.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::Api;
use kube::{Client, ResourceExt};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase, SubscriptionCondition};
use olm_types::conditions::subscription::INSTALL_PLAN_PENDING;
use serde_json::json;
use tokio::time::Instant;

use super::install::{NAMESPACE, PACKAGE};
use super::phases;
use super::quota::Quota;
use super::setup::Setup;
use super::subscription;
use super::timeline::Timeline;
use super::workloads;

/// Where the newer version is.
const CHANNEL: &str = "next";

/// What runs, and what brings a Service with a node port.
const OLD: &str = "guestbook.v1.3.0";
const NEW: &str = "guestbook.v2.0.0";

/// Lets a quota refuse an object of the new version, then raises it.
pub(super) async fn stuck_and_repaired(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("An upgrade that gets stuck: a quota refuses one of its objects");
    let client = &setup.client;
    let follower = phases::follow(*timeline, client, NAMESPACE).await?;
    let quota = Quota::of_node_ports(timeline, client, NAMESPACE, 0).await?;
    let spec = json!({"channel": CHANNEL, "installPlanApproval": "Automatic"});
    subscription::change(client, spec).await?;
    timeline.event("Subscription", format!("{PACKAGE} moved to channel {CHANNEL}"));
    report_plan(timeline, client, quota.name()).await?;
    report_csv(timeline, client).await?;
    report_subscription(timeline, client).await?;
    report_deployment(timeline, client).await?;
    let started = Instant::now();
    quota.raise(timeline, 1).await?;
    subscription::at_latest(client, NEW).await?;
    follower.until_replaced(&[OLD, NEW]).await?;
    let seconds = started.elapsed().as_secs_f32();
    timeline.event("done", format!("{seconds:.1} s from the higher quota until {OLD} was gone"));
    Ok(())
}

/// Prints what the InstallPlan says: the answer of the API server.
async fn report_plan(timeline: &Timeline, client: &Client, quota: &str) -> Result<()> {
    let message = |plan: &InstallPlan| plan.status.as_ref()?.message.clone();
    let plan = subscription::plan(client, NEW, "name the quota", |plan| {
        message(plan).is_some_and(|text| text.contains(quota))
    });
    let plan = plan.await?;
    let phase = plan.status.as_ref().map(|status| status.phase).unwrap_or_default();
    timeline.event("InstallPlan", format!("{} is {phase}:", plan.name_any()));
    timeline.detail(message(&plan).unwrap_or_default());
    ensure!(phase == InstallPlanPhase::Installing, "the InstallPlan has given up");
    Ok(())
}

/// Prints what the new version says: which requirements are not there yet.
async fn report_csv(timeline: &Timeline, client: &Client) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), NAMESPACE);
    let csv = wait::until(&csvs, NEW, "miss something", |csv: &ClusterServiceVersion| {
        let reason = csv.status.as_ref().and_then(|status| status.reason.as_deref());
        reason == Some("RequirementsNotMet")
    });
    let status = csv.await?.status.unwrap_or_default();
    let (reason, message) = (status.reason.unwrap_or_default(), status.message.unwrap_or_default());
    timeline.event("CSV", format!("{NEW} is {}, {reason}: {message}", status.phase));
    let missing = status.requirement_status.iter().filter(|one| one.status != "Present");
    for one in missing {
        timeline.detail(format!("{} {}: {}, {}", one.kind, one.name, one.status, one.message));
    }
    Ok(())
}

/// Prints what the Subscription says: it names the new version from the beginning, as in v0, and
/// a condition says that the plan is not done.
async fn report_subscription(timeline: &Timeline, client: &Client) -> Result<()> {
    let pending = |all: &[SubscriptionCondition]| {
        let pending = all.iter().find(|c| c.type_ == INSTALL_PLAN_PENDING && c.status == "True");
        pending.and_then(|condition| condition.reason.clone())
    };
    let status = subscription::until(client, "report its InstallPlan", |status| {
        pending(&status.conditions).as_deref() == Some("Installing")
    });
    let status = status.await?;
    let reason = pending(&status.conditions).unwrap_or_default();
    let (state, current) = (status.state, status.current_csv.unwrap_or_default());
    let text = format!("{PACKAGE} is {state} with {current}, {INSTALL_PLAN_PENDING}: {reason}");
    timeline.event("Subscription", text);
    ensure!(current == NEW, "the Subscription is at {current}");
    Ok(())
}

/// Prints that the old version works on.
async fn report_deployment(timeline: &Timeline, client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let deployment = deployments.get("guestbook-operator").await.context("it does not run")?;
    timeline.event("Deployment", workloads::line(&deployment)?);
    let old = workloads::image(&deployment).is_some_and(|image| image.ends_with(":v1.3.0"));
    ensure!(old, "the old version does not run any more");
    Ok(())
}
