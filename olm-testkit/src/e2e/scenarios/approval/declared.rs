//! Approvals that a Subscription declares in its annotations.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::annotations::{APPROVE, APPROVED_BY, FIRST_INSTALL, PAUSE};
use olm_types::api::{Approval, InstallPlan, Subscription, SubscriptionState};
use serde_json::{Value, json};

use super::{NEW, OLD, publish, versions, waiting_plan};
use crate::builders::{self, Bundle, Package};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::scenarios::install::operator;
use crate::wait;

const STOVE: &str = "stove.v1.0.0";

/// The first plan needs no approval; the second waits for what the annotation names, says so, and is
/// approved when it names it.
pub(super) async fn in_annotations(ctx: Arc<TestContext>) -> Result<()> {
    let versions = versions(&ctx);
    publish(&ctx, &versions[..1]).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.annotations_mut().insert(FIRST_INSTALL.to_owned(), "Automatic".to_owned());
    subscription.annotations_mut().insert(APPROVE.to_owned(), "Kettle".to_owned());
    ctx.create(&subscription).await?;
    ctx.succeeded(OLD).await?;
    ctx.installed("kettle", OLD).await?;
    is_reported(&ctx, true).await?;

    ctx.publish("kitchen", &super::stable(&versions)).await?;
    let plan = waiting_plan(&ctx, NEW, 2).await?.name_any();
    says(&ctx, &plan, "Subscription kettle: annotation olm-rs.dev/approve has to be names").await?;
    annotate(&ctx, json!(OLD)).await?;
    is_reported(&ctx, false).await?;
    says(&ctx, &plan, &format!("names {NEW} in its annotation {APPROVE}")).await?;
    ctx.until_idle().await?;
    annotate(&ctx, json!(format!("{OLD}, {NEW}"))).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    check_record(&ctx, &plan).await
}

/// While a Subscription is paused no plan is made for a new version, though its sibling gets one, and one that was
/// made before and is approved is not begun; what runs is looked after. Afterwards both go on.
pub(super) async fn paused(ctx: Arc<TestContext>) -> Result<()> {
    let versions = versions(&ctx);
    publish(&ctx, &versions[..1]).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.annotations_mut().insert(FIRST_INSTALL.to_owned(), "Automatic".to_owned());
    ctx.create(&subscription).await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;

    pause(&ctx, json!("true")).await?;
    ctx.condition("kettle", "UpgradeHeld", "True", "Paused").await?;
    is_looked_after(&ctx).await?;
    let [kettles] = super::stable(&versions);
    ctx.publish("kitchen", &[kettles, stove(&ctx)]).await?;
    let sibling = builders::subscription(&ctx.namespace, "stove", "stable", "kitchen");
    ctx.create(&sibling).await?;
    ctx.at_latest("stove", STOVE).await?;
    ctx.until_idle().await?;
    let held = ctx.installed("kettle", OLD).await?.status.unwrap_or_default();
    ensure!(held.state == SubscriptionState::AtLatestKnown, "it is {:?}", held.state);
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    let of_the_kettle = plans.iter().filter(|plan| brings_kettles(plan)).count();
    ensure!(of_the_kettle == 1, "{of_the_kettle} plans for the kettle while it is paused");

    pause(&ctx, json!(null)).await?;
    let plan = waiting_plan(&ctx, NEW, 3).await?;
    pause_of_a_pending_upgrade(&ctx, &plan).await?;
    pause(&ctx, json!("yes")).await?;
    ctx.condition("kettle", "AnnotationsInvalid", "True", "MalformedValue").await?;
    super::approve(&ctx, &plan).await?;
    says(&ctx, &plan.name_any(), &format!("Subscription kettle has annotation {PAUSE}")).await?;
    ctx.until_idle().await?;
    pause(&ctx, json!("false")).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await.map(drop)
}

/// A Deployment that someone deletes is made anew.
async fn is_looked_after(ctx: &TestContext) -> Result<()> {
    let (deployments, name): (Api<Deployment>, _) = (ctx.api(), "kettle-manager");
    let before = deployments.get(name).await.context("there is no Deployment")?;
    ctx.delete::<Deployment>(name).await?;
    let is_new = |one: &Deployment| one.uid() != before.uid();
    wait::until(&deployments, name, "be made anew", is_new).await?;
    ctx.succeeded(OLD).await.map(drop)
}

/// A pause that comes while a plan waits: the upgrade is held and not pending, with the plan that is there, and the
/// plan is the same when the pause goes. So it is without approval, once the Subscription is Automatic.
async fn pause_of_a_pending_upgrade(ctx: &TestContext, plan: &InstallPlan) -> Result<()> {
    pause(ctx, json!("true")).await?;
    is_held(ctx).await?;
    ctx.until_idle().await?;
    let held = is_held(ctx).await?;
    ensure!(ctx.plan_of(&held).await?.name_any() == plan.name_any(), "it follows another plan");
    let automatic = json!({"spec": {"installPlanApproval": "Automatic"}});
    ctx.edit::<Subscription>("kettle", automatic).await?;
    ctx.until_idle().await?;
    is_held(ctx).await?;
    let manual = json!({"spec": {"installPlanApproval": "Manual"}});
    ctx.edit::<Subscription>("kettle", manual).await?;
    pause(ctx, json!(null)).await?;
    let again = waiting_plan(ctx, NEW, 3).await?;
    ensure!(again.name_any() == plan.name_any(), "the plan was made anew");
    Ok(())
}

/// Waits until the Subscription says that its upgrade is held, and nowhere that it is pending.
async fn is_held(ctx: &TestContext) -> Result<Subscription> {
    let is_held = |subscription: &Subscription| {
        let status = subscription.status.clone().unwrap_or_default();
        let says = |kind: &str, reason: &str| {
            let mut all = conditions(subscription).iter();
            all.any(|one| one.type_ == kind && one.reason.as_deref() == Some(reason))
        };
        status.state == SubscriptionState::AtLatestKnown
            && status.current_csv.as_deref() == Some(NEW)
            && status.installed_csv.as_deref() == Some(OLD)
            && conditions(subscription).iter().all(|one| one.type_ != "InstallPlanPending")
            && says("UpgradeHeld", "Paused")
            && says("Ready", "Succeeded")
    };
    wait::until(&ctx.api(), "kettle", "be held by its pause", is_held).await
}

/// An operator that the first content of the catalog does not have: once it is installed, the new content
/// was read and the namespace was resolved with it.
fn stove(ctx: &TestContext) -> Package {
    let kind = ctx.kind("Stove");
    let bundle = Bundle::new("1.0.0", &operator("stove", "1.0.0", &kind)).provides(&kind);
    Package::new("stove").channel("stable", vec![bundle])
}

fn brings_kettles(plan: &InstallPlan) -> bool {
    plan.spec.cluster_service_version_names.iter().any(|csv| csv.starts_with("kettle."))
}

async fn pause(ctx: &TestContext, value: Value) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {PAUSE: value}}});
    ctx.edit::<Subscription>("kettle", patch).await.map(drop)
}

async fn annotate(ctx: &TestContext, value: Value) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {APPROVE: value}}});
    ctx.edit::<Subscription>("kettle", patch).await.map(drop)
}

/// Waits until the plan waits with a message that contains this.
pub(super) async fn says(ctx: &TestContext, plan: &str, text: &str) -> Result<()> {
    let says = |plan: &InstallPlan| {
        let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| {
            message.starts_with("waits for approval: ") && message.contains(text)
        })
    };
    wait::until(&ctx.api(), plan, &format!("say {text:?}"), says).await.map(drop)
}

async fn is_reported(ctx: &TestContext, expected: bool) -> Result<()> {
    let what = if expected { "say what is malformed" } else { "have nothing malformed" };
    let reported = |subscription: &Subscription| {
        conditions(subscription).iter().any(|one| {
            one.type_ == "AnnotationsInvalid"
                && one.reason.as_deref() == Some("MalformedValue")
                && one.message.as_ref().is_some_and(|text| text.contains("\"Kettle\" is none"))
        })
    };
    let meets = |subscription: &Subscription| reported(subscription) == expected;
    wait::until(&ctx.api(), "kettle", what, meets).await.map(drop)
}

/// The plan says who approved it.
async fn check_record(ctx: &TestContext, plan: &str) -> Result<()> {
    let plan: InstallPlan = ctx.api().get(plan).await.context("the plan is gone")?;
    ensure!(plan.spec.approved, "{:?}", plan.spec);
    let record =
        plan.annotations().get(APPROVED_BY).context("the plan has no record of its approval")?;
    let record: Value = serde_json::from_str(record).context("the record is no JSON")?;
    ensure!(record[0]["subscription"] == "kettle", "{record}");
    ensure!(record[0]["approve"] == format!("{OLD}, {NEW}"), "{record}");
    ensure!(record[0]["resourceVersion"].is_string(), "{record}");
    Ok(())
}
