//! Changes in Git whose InstallPlan fails, and that are taken back.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::annotations::{PIN, VERSION_RANGE};
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription, SubscriptionState,
};
use serde_json::json;

use super::versions::{NEWEST, annotate, ask_for, declare, subscribe_pinned};
use super::{NEW, OLD, apart, kettle, kettles, publish};
use crate::builders::{Bundle, Package};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::scenarios::install::operator;
use crate::e2e::{Scenario, scenario};
use crate::{refusal, wait};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "approval::taken_back",
            "a pin or a range that goes back after its plan has failed gets Ready back, and another version still comes",
            taken_back,
        ),
        scenario(
            "approval::taken_back_while_it_is_tried",
            "a plan that fails after its pin went back is no failure of the Subscription",
            while_it_is_tried,
        ),
        scenario(
            "approval::taken_back_by_one_of_two",
            "of two Subscriptions with one failed plan, one lets go: the other one gets what it asks for",
            by_one_of_two,
        ),
    ]
}

/// What a Subscription does about a failed plan, after the pin and after the range went back, and forth in between. A
/// version that can be reached without the one that failed has a plan of its own.
async fn taken_back(ctx: Arc<TestContext>) -> Result<()> {
    pinned_to_the_first(&ctx).await?;
    ask_for(&ctx, NEW).await?;
    let failed = failed(&ctx).await?;
    says_that_it_failed(&ctx).await?;
    ask_for(&ctx, OLD).await?;
    is_as_before(&ctx, "Pinned").await?;
    ask_for(&ctx, NEW).await?;
    says_that_it_failed(&ctx).await?;

    // Both at once, as a tool applies it.
    declare(&ctx, json!({VERSION_RANGE: "<1.1.0", PIN: null})).await?;
    is_as_before(&ctx, "VersionRange").await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.2.0")).await?;
    says_that_it_failed(&ctx).await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.1.0")).await?;
    is_as_before(&ctx, "VersionRange").await?;

    ask_for(&ctx, NEWEST).await?;
    declare(&ctx, json!({VERSION_RANGE: null, PIN: "true"})).await?;
    ctx.succeeded(NEWEST).await?;
    ctx.at_latest("kettle", NEWEST).await?;
    ctx.condition("kettle", "Ready", "True", "Succeeded").await?;
    ctx.until_idle().await?;
    let plan: InstallPlan = ctx.api().get(&failed.name_any()).await?;
    ensure!(plan.phase() == InstallPlanPhase::Failed, "it is {}", plan.phase());
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    let names: Vec<String> = csvs.iter().map(ResourceExt::name_any).collect();
    ensure!(names == [NEWEST], "there is {names:?}");
    refusal::accept(&ctx.client, &ctx.namespace).await
}

/// The plan has begun, so that it goes on when the pin goes back, and fails afterwards.
async fn while_it_is_tried(ctx: Arc<TestContext>) -> Result<()> {
    pinned_to_the_first(&ctx).await?;
    ask_for(&ctx, NEW).await?;
    let plan = refusal::tried(&ctx.api()).await?;
    ask_for(&ctx, OLD).await?;
    refusal::fail(&ctx.api(), &plan).await?;
    is_as_before(&ctx, "Pinned").await?;
    refusal::accept(&ctx.client, &ctx.namespace).await
}

/// A plan brings two operators and what both need; the CSV of the first one is refused. Once that one does not accept
/// its version any more, the other one comes with a plan of its own.
async fn by_one_of_two(ctx: Arc<TestContext>) -> Result<()> {
    let wires = ctx.kind("Wire");
    let wire = Bundle::new("1.0.0", &operator("wire", "1.0.0", &wires)).provides(&wires);
    let [lamp, shade] = ["lamp", "shade"].map(|name| apart::user(&ctx, name, &wires));
    ctx.operator_group().await?;
    refusal::refuse(&ctx.client, &ctx.namespace, "lamp.v1.0.0").await?;
    ctx.subscribe("lamp", "kitchen").await?;
    ctx.subscribe("shade", "kitchen").await?;
    // Only now, so that both are resolved at once.
    ctx.catalog("kitchen", &[lamp, shade, Package::single("wire", wire)]).await?;
    let failed = failed(&ctx).await?;
    let mut brought = failed.spec.cluster_service_version_names.clone();
    brought.sort();
    ensure!(brought == ["lamp.v1.0.0", "shade.v1.0.0", "wire.v1.0.0"], "{brought:?}");
    ctx.condition("shade", "InstallPlanFailed", "True", "InstallComponentFailed").await?;
    ctx.until_idle().await?;

    let range = json!({"metadata": {"annotations": {VERSION_RANGE: ">=9.0.0"}}});
    ctx.edit::<Subscription>("lamp", range).await?;
    ctx.condition("lamp", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    for csv in ["shade.v1.0.0", "wire.v1.0.0"] {
        ctx.succeeded(csv).await?;
    }
    let shade = ctx.at_latest("shade", "shade.v1.0.0").await?;
    ctx.condition("shade", "Ready", "True", "Succeeded").await?;
    let plan = ctx.plan_of(&shade).await?;
    let names = &plan.spec.cluster_service_version_names;
    ensure!(names.iter().all(|csv| csv != "lamp.v1.0.0"), "it brings {names:?}");
    ctx.until_idle().await?;
    refusal::accept(&ctx.client, &ctx.namespace).await
}

/// A Manual Subscription is pinned to the first version, and has it. The second one is refused; the third one
/// is reached from both.
async fn pinned_to_the_first(ctx: &TestContext) -> Result<()> {
    let kind = kettles(ctx);
    let newest = kettle("1.2.0", &kind).replaces(NEW).skip_range(">=1.0.0 <1.2.0");
    let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD), newest];
    refusal::refuse(&ctx.client, &ctx.namespace, NEW).await?;
    publish(ctx, &versions).await?;
    subscribe_pinned(ctx).await?;
    ctx.succeeded(OLD).await?;
    ctx.installed("kettle", OLD).await.map(drop)
}

/// The plan that was refused a CSV, after it has failed.
async fn failed(ctx: &TestContext) -> Result<InstallPlan> {
    let plans = ctx.api();
    refusal::fail(&plans, &refusal::tried(&plans).await?).await
}

async fn says_that_it_failed(ctx: &TestContext) -> Result<()> {
    let reason = "InstallComponentFailed";
    ctx.condition("kettle", "InstallPlanFailed", "True", reason).await?;
    ctx.condition("kettle", "Ready", "False", reason).await?;
    ctx.condition("kettle", "Stalled", "True", reason).await.map(drop)
}

/// The installed version is at work and all that is asked for: nothing is pending, due or failed, and it stays so.
async fn is_as_before(ctx: &TestContext, held: &str) -> Result<()> {
    let is_well = |subscription: &Subscription| {
        let status = subscription.status.clone().unwrap_or_default();
        let reason = |kind: &str| {
            let mut all = conditions(subscription).iter();
            all.find(|one| one.type_ == kind).and_then(|one| one.reason.as_deref())
        };
        let gone = ["InstallPlanFailed", "InstallPlanPending", "Reconciling", "Stalled"];
        status.state == SubscriptionState::AtLatestKnown
            && status.installed_csv.as_deref() == Some(OLD)
            && gone.into_iter().all(|kind| reason(kind).is_none())
            && reason("UpgradeHeld") == Some(held)
            && reason("Ready") == Some("Succeeded")
    };
    wait::until(&ctx.api(), "kettle", "be as before the change", is_well).await?;
    ctx.until_idle().await?;
    let now: Subscription = ctx.api().get("kettle").await?;
    ensure!(is_well(&now), "it did not stay so: {:?}", now.status);
    Ok(())
}
