//! An upgrade that waits until somebody approves it.

use anyhow::{Context, Result, ensure};
use kube::Client;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::wait;
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription, SubscriptionState,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::install::{NAMESPACE, PACKAGE, succeeded};
use super::phases;
use super::stage::Stage;
use super::timeline::Timeline;

/// Where the newer version is.
const CHANNEL: &str = "candidate";

/// What runs, and what takes its place.
const OLD: &str = "guestbook.v1.1.0";
const NEW: &str = "guestbook.v1.2.0";

/// Switches the channel under manual approval, approves, and follows the hand-over.
pub(super) async fn approved(timeline: &Timeline, stage: &Stage) -> Result<()> {
    timeline.chapter(&format!("An upgrade: channel {CHANNEL}, approval Manual"));
    let client = &stage.client;
    let follower = phases::follow_news(*timeline, client.clone(), NAMESPACE).await?;
    switch(client).await?;
    timeline.event("Subscription", format!("{PACKAGE} moved to channel {CHANNEL}"));
    let plan = waiting_plan(client).await?;
    timeline.event("InstallPlan", format!("{} waits for approval: {NEW}", plan.name_any()));
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), NAMESPACE);
    let early = csvs.get_opt(NEW).await.context("cannot look for the new version")?;
    ensure!(early.is_none(), "{NEW} was installed without approval");
    timeline.detail(format!("{OLD} runs on, nothing was written"));
    let started = Instant::now();
    approve(client, &plan.name_any()).await?;
    timeline.event("InstallPlan", format!("{} was approved", plan.name_any()));
    succeeded(client, NEW).await?;
    wait::until_gone(&csvs, OLD).await?;
    follower.finish(&[NEW]).await?;
    at_latest(client).await?;
    let seconds = started.elapsed().as_secs_f32();
    timeline.event("done", format!("{seconds:.1} s from approval until {OLD} was gone"));
    Ok(())
}

async fn switch(client: &Client) -> Result<()> {
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = json!({"spec": {"channel": CHANNEL, "installPlanApproval": "Manual"}});
    patch(&wishes, PACKAGE, spec).await.context("cannot change the Subscription")
}

async fn approve(client: &Client, plan: &str) -> Result<()> {
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), NAMESPACE);
    patch(&plans, plan, json!({"spec": {"approved": true}})).await.context("cannot approve")
}

async fn patch<K>(api: &Api<K>, name: &str, patch: Value) -> Result<(), kube::Error>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}

/// The plan that the Subscription points at once it waits for approval.
async fn waiting_plan(client: &Client) -> Result<InstallPlan> {
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let moved = |wish: &Subscription| {
        let status = wish.status.as_ref();
        status.is_some_and(|status| status.current_csv.as_deref() == Some(NEW))
    };
    let wish = wait::until(&wishes, PACKAGE, "be resolved anew", moved).await?;
    let plan = wish.status.and_then(|status| status.install_plan_ref?.name);
    let plan = plan.context("the Subscription points at no InstallPlan")?;
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), NAMESPACE);
    wait::until(&plans, &plan, "wait for approval", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|s| s.phase == InstallPlanPhase::RequiresApproval)
    })
    .await
}

/// Waits until the Subscription says that the new version is installed.
async fn at_latest(client: &Client) -> Result<()> {
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let installed = |wish: &Subscription| {
        wish.status.as_ref().is_some_and(|status| {
            status.state == SubscriptionState::AtLatestKnown
                && status.installed_csv.as_deref() == Some(NEW)
        })
    };
    wait::until(&wishes, PACKAGE, "have the new version installed", installed).await.map(drop)
}
