//! Versions that a Subscription declares in its annotations.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PIN, VERSION_RANGE};
use olm_types::api::{Approval, InstallPlan, Subscription, SubscriptionState};
use serde_json::{Value, json};

use super::{NEW, OLD, kettle, kettles, publish};
use crate::builders::{self, Bundle};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "approval::of_a_range",
            "a Subscription gets versions of its range only, and says what it holds back",
            of_a_range,
        ),
        scenario(
            "approval::pinned",
            "a pin takes a Subscription to its version, step by step and without approval",
            pinned,
        ),
        scenario(
            "approval::pinned_while_another_waits",
            "a pin replaces a plan for another version that waits for approval",
            pinned_while_another_waits,
        ),
        scenario(
            "approval::pinned_to_what_waits",
            "a plan waits while its Subscription is pinned to what it has, and a pin that moves approves it",
            pinned_to_what_waits,
        ),
        scenario(
            "approval::a_range_while_a_plan_waits",
            "a plan that waits is not begun while the range does not have its version, approved or not",
            a_range_while_a_plan_waits,
        ),
        scenario(
            "approval::a_refused_pin_while_a_plan_waits",
            "a pin that is refused holds the plan that waits; one that lies behind it needs no approval",
            a_refused_pin_while_a_plan_waits,
        ),
        scenario(
            "approval::a_range_that_goes_while_a_plan_waits",
            "a range that is removed holds nothing back any more, also while a plan waits for approval",
            a_range_that_goes_while_a_plan_waits,
        ),
        scenario(
            "approval::a_range_that_moves_before_an_install",
            "a first plan that is approved and held gives way to one for a version of the range",
            a_range_that_moves_before_an_install,
        ),
    ]
}

pub(super) const NEWEST: &str = "kettle.v1.2.0";

/// Only versions of the range are installed, at first and later; what is held back is named, a range that
/// cannot be read holds everything back, and without one the newest version comes.
async fn of_a_range(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.annotations_mut().insert(VERSION_RANGE.to_owned(), "<1.1.0".to_owned());
    ctx.create(&subscription).await?;
    ctx.succeeded(OLD).await?;
    ctx.installed("kettle", OLD).await?;
    let held = ctx.condition("kettle", "UpgradeHeld", "True", "VersionRange").await?;
    let expected =
        format!("annotation {VERSION_RANGE} accepts only \"<1.1.0\"; held back: {NEWEST}, {NEW}");
    ensure!(held.message.as_ref() == Some(&expected), "{held:?}");
    ctx.until_idle().await?;

    annotate(&ctx, VERSION_RANGE, json!("=>1.1")).await?;
    ctx.condition("kettle", "AnnotationsInvalid", "True", "MalformedValue").await?;
    ctx.condition("kettle", "UpgradeHeld", "True", "MalformedValue").await?;
    ctx.until_idle().await?;
    ctx.installed("kettle", OLD).await?;

    annotate(&ctx, VERSION_RANGE, json!("1.0.x || ~1.1")).await?;
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await?;
    let held = held_back(&ctx, NEWEST).await?;
    ensure!(!held.contains(NEW), "{held}");
    ctx.until_idle().await?;

    annotate(&ctx, VERSION_RANGE, json!(null)).await?;
    ctx.succeeded(NEWEST).await?;
    ctx.at_latest("kettle", NEWEST).await?;
    nothing_is_held(&ctx).await
}

/// A pin takes a Manual Subscription to its version, step by step and without further approval; one to which
/// no upgrade leads is refused with those to which one does, and changes nothing.
async fn pinned(ctx: Arc<TestContext>) -> Result<()> {
    installed(&ctx, (PIN, "true")).await?;
    ctx.installed("kettle", OLD).await?;
    ctx.condition("kettle", "UpgradeHeld", "True", "Pinned").await?;
    ctx.until_idle().await?;

    ask_for(&ctx, NEWEST).await?;
    ctx.succeeded(NEWEST).await?;
    ctx.at_latest("kettle", NEWEST).await?;
    nothing_is_held(&ctx).await?;
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    let mut brought: Vec<_> =
        plans.iter().flat_map(|plan| &plan.spec.cluster_service_version_names).collect();
    brought.sort();
    ensure!(brought == [OLD, NEW, NEWEST], "{brought:?}");

    ask_for(&ctx, OLD).await?;
    let refused =
        ctx.condition("kettle", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    let message = refused.message.unwrap_or_default();
    ensure!(message.contains(&format!("pinned to {OLD}")), "{message}");
    ensure!(message.contains("There is no upgrade at all."), "{message}");
    ctx.until_idle().await?;
    let stays = ctx.installed("kettle", NEWEST).await?.status.unwrap_or_default();
    ensure!(stays.state == SubscriptionState::AtLatestKnown, "it is {:?}", stays.state);

    ask_for(&ctx, NEWEST).await?;
    let is_met = |subscription: &Subscription| {
        conditions(subscription).iter().all(|one| one.type_ != "ResolutionFailed")
    };
    wait::until(&ctx.api(), "kettle", "be met again", is_met).await.map(drop)
}

/// A pin that comes while a plan for another version waits for approval: a plan for the pinned one takes its
/// place, and the former one is not executed when it is approved after all.
async fn pinned_while_another_waits(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)).await?;
    super::subscribe(&ctx, None).await?;
    let waiting = super::waiting_plan(&ctx, NEWEST, 1).await?;
    ask_for(&ctx, NEW).await?;
    annotate(&ctx, PIN, json!("true")).await?;
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await?;
    super::approve(&ctx, &waiting).await?;
    wait::until_gone::<InstallPlan>(&ctx.api(), &waiting.name_any()).await?;
    ctx.until_idle().await?;
    ctx.installed("kettle", NEW).await.map(drop)
}

/// A plan that waits while its Subscription is pinned to what it has, and is approved when the pin moves to what
/// the plan brings.
async fn pinned_to_what_waits(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)).await?;
    subscribe_pinned(&ctx).await?;
    ctx.succeeded(OLD).await?;
    annotate(&ctx, PIN, json!("false")).await?;
    let waiting = super::waiting_plan(&ctx, NEW, 2).await?.name_any();
    annotate(&ctx, PIN, json!("true")).await?;
    let is_held = |plan: &InstallPlan| {
        let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| {
            message.contains(&format!("pinned to {OLD}, which is installed"))
        })
    };
    wait::until(&ctx.api(), &waiting, "be held by the pin", is_held).await?;
    ctx.until_idle().await?;
    ask_for(&ctx, NEW).await?;
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await.map(drop)
}

/// A range that comes while a plan waits: the upgrade is held and not pending, neither an annotation nor a user has
/// it begun, and it is what was approved once the range goes.
async fn a_range_while_a_plan_waits(ctx: Arc<TestContext>) -> Result<()> {
    let waiting = first_and_waiting(&ctx).await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.1.0")).await?;
    held_by_its_range(&ctx).await?;
    annotate(&ctx, APPROVE, json!(NEW)).await?;
    let why = "Subscription kettle accepts only \"<1.1.0\"";
    super::declared::says(&ctx, &waiting.name_any(), why).await?;
    ctx.until_idle().await?;
    super::approve(&ctx, &waiting).await?;
    ctx.until_idle().await?;
    super::declared::says(&ctx, &waiting.name_any(), why).await?;
    held_by_its_range(&ctx).await?;
    ctx.installed("kettle", OLD).await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.2.0")).await?;
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await.map(drop)
}

/// A pin that cannot be reached comes while a plan waits: what waits is not begun, approved or not. A pin behind it is
/// reached through it.
async fn a_refused_pin_while_a_plan_waits(ctx: Arc<TestContext>) -> Result<()> {
    let waiting = first_and_waiting(&ctx).await?;
    ask_for(&ctx, "kettle.v9.9.9").await?;
    annotate(&ctx, PIN, json!("true")).await?;
    ctx.condition("kettle", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    super::approve(&ctx, &waiting).await?;
    let why = format!("is pinned to kettle.v9.9.9, and {NEW} is not known to lead there");
    super::declared::says(&ctx, &waiting.name_any(), &why).await?;
    ctx.until_idle().await?;
    ctx.installed("kettle", OLD).await?;
    ask_for(&ctx, NEWEST).await?;
    ctx.succeeded(NEWEST).await?;
    ctx.at_latest("kettle", NEWEST).await?;
    // Without the pin nothing holds what was approved, and nothing asks for it any more.
    annotate(&ctx, PIN, json!(null)).await?;
    wait::until_gone::<InstallPlan>(&ctx.api(), &waiting.name_any()).await
}

/// The plan that waits is the same before and after, and no resolution says that the range is gone.
async fn a_range_that_goes_while_a_plan_waits(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = Some(OLD.to_owned());
    for (key, value) in [(FIRST_INSTALL, "Automatic"), (VERSION_RANGE, "<1.2.0")] {
        subscription.annotations_mut().insert(key.to_owned(), value.to_owned());
    }
    ctx.create(&subscription).await?;
    ctx.succeeded(OLD).await?;
    let waiting = super::waiting_plan(&ctx, NEW, 2).await?;
    held_back(&ctx, NEWEST).await?;
    annotate(&ctx, VERSION_RANGE, json!(null)).await?;
    nothing_is_held(&ctx).await?;
    ctx.until_idle().await?;
    let still = super::waiting_plan(&ctx, NEW, 2).await?;
    ensure!(still.name_any() == waiting.name_any(), "the plan was made anew");
    super::approve(&ctx, &still).await?;
    ctx.succeeded(NEW).await?;
    super::waiting_plan(&ctx, NEWEST, 3).await.map(drop)
}

/// A range has none of the versions while the first plan is approved, and one of them later: that one waits for an
/// approval of its own, and the former plan goes.
async fn a_range_that_moves_before_an_install(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)).await?;
    super::subscribe(&ctx, None).await?;
    let former = super::waiting_plan(&ctx, NEWEST, 1).await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.0.0")).await?;
    ctx.condition("kettle", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    super::approve(&ctx, &former).await?;
    super::declared::says(&ctx, &former.name_any(), "accepts only \"<1.0.0\"").await?;
    ctx.until_idle().await?;
    annotate(&ctx, VERSION_RANGE, json!("<1.2.0")).await?;
    let plan = super::waiting_plan(&ctx, NEW, 2).await?;
    super::approve(&ctx, &plan).await?;
    ctx.succeeded(NEW).await?;
    ctx.installed("kettle", NEW).await?;
    wait::until_gone::<InstallPlan>(&ctx.api(), &former.name_any()).await
}

/// The first version is installed, and a plan for the next one waits.
async fn first_and_waiting(ctx: &TestContext) -> Result<InstallPlan> {
    installed(ctx, (FIRST_INSTALL, "Automatic")).await?;
    super::waiting_plan(ctx, NEW, 2).await
}

/// A Manual Subscription has the first version, which an annotation lets in.
async fn installed(ctx: &TestContext, (key, value): (&str, &str)) -> Result<()> {
    publish(ctx, &versions(ctx)).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = Some(OLD.to_owned());
    subscription.annotations_mut().insert(key.to_owned(), value.to_owned());
    ctx.create(&subscription).await?;
    ctx.succeeded(OLD).await.map(drop)
}

/// Waits until the Subscription says that its upgrade is held by the range, and nowhere that it is pending.
async fn held_by_its_range(ctx: &TestContext) -> Result<()> {
    let is_held = |subscription: &Subscription| {
        let status = subscription.status.clone().unwrap_or_default();
        let reason = |kind: &str| {
            let mut all = conditions(subscription).iter();
            all.find(|one| one.type_ == kind).and_then(|one| one.reason.clone())
        };
        status.state == SubscriptionState::AtLatestKnown
            && status.current_csv.as_deref() == Some(NEW)
            && status.installed_csv.as_deref() == Some(OLD)
            && reason("InstallPlanPending").is_none()
            && reason("UpgradeHeld").as_deref() == Some("VersionRange")
            && reason("Ready").as_deref() == Some("Succeeded")
    };
    wait::until(&ctx.api(), "kettle", "be held by its range", is_held).await.map(drop)
}

/// Three versions, each of which replaces the one before.
fn versions(ctx: &TestContext) -> [Bundle; 3] {
    let kind = kettles(ctx);
    let newer = kettle("1.1.0", &kind).replaces(OLD);
    [kettle("1.0.0", &kind), newer, kettle("1.2.0", &kind).replaces(NEW)]
}

/// A Manual Subscription that is pinned to the first version.
pub(super) async fn subscribe_pinned(ctx: &TestContext) -> Result<()> {
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = Some(OLD.to_owned());
    subscription.annotations_mut().insert(PIN.to_owned(), "true".to_owned());
    ctx.create(&subscription).await.map(drop)
}

pub(super) async fn annotate(ctx: &TestContext, key: &str, value: Value) -> Result<()> {
    declare(ctx, json!({key: value})).await
}

/// Changes several annotations at once.
pub(super) async fn declare(ctx: &TestContext, annotations: Value) -> Result<()> {
    let patch = json!({"metadata": {"annotations": annotations}});
    ctx.edit::<Subscription>("kettle", patch).await.map(drop)
}

pub(super) async fn ask_for(ctx: &TestContext, csv: &str) -> Result<()> {
    ctx.edit::<Subscription>("kettle", json!({"spec": {"startingCSV": csv}})).await.map(drop)
}

/// Waits until this version is the only one that is held back; the message.
async fn held_back(ctx: &TestContext, csv: &str) -> Result<String> {
    let end = format!("held back: {csv}");
    let message = |subscription: &Subscription| {
        let mut all = conditions(subscription).iter();
        all.find(|one| one.type_ == "UpgradeHeld").and_then(|one| one.message.clone())
    };
    let says = |one: &Subscription| message(one).is_some_and(|message| message.ends_with(&end));
    let found = wait::until(&ctx.api(), "kettle", &format!("say {end:?}"), says).await?;
    message(&found).context("the condition is gone")
}

async fn nothing_is_held(ctx: &TestContext) -> Result<()> {
    let is_free = |subscription: &Subscription| {
        conditions(subscription).iter().all(|one| one.type_ != "UpgradeHeld")
    };
    wait::until(&ctx.api(), "kettle", "hold nothing back", is_free).await.map(drop)
}
