//! The API server refuses a step of an InstallPlan.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, InstallPlanCondition, InstallPlanPhase, Subscription,
    SubscriptionState,
};
use serde_json::json;

use super::policy::Policy;
use super::steps::operator;
use crate::builders::{Bundle, Package};
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::refusal::for_a_while",
            "a step that a policy refuses is tried until it is not",
            for_a_while,
        ),
        scenario(
            "recovery::refusal::forbidden",
            "a step that a quota forbids is tried for longer than a minute",
            forbidden,
        ),
        scenario(
            "recovery::refusal::for_good",
            "a step that is refused for a minute fails its plan",
            for_good,
        ),
    ]
}

/// A policy refuses the ConfigMap of the bundle until it is gone.
async fn for_a_while(ctx: Arc<TestContext>) -> Result<()> {
    let policy = Policy::refuse_config_maps(&ctx).await?;
    subscribe(&ctx, "pan").await?;
    let plan = plan(&ctx, "pan").await?;
    let error = policy.error("pan-settings");
    retries(&ctx, &plan, &error).await?;
    ctx.condition("pan", "InstallPlanPending", "True", "Installing").await?;
    policy.withdraw().await?;
    ctx.succeeded("pan.v1.0.0").await?;
    check_complete(&ctx, "pan", &plan).await?;
    ctx.until_idle().await
}

/// A quota forbids the Service of the bundle. What is forbidden is tried for longer than a minute.
async fn forbidden(ctx: Arc<TestContext>) -> Result<()> {
    no_services(&ctx, "no-services").await?;
    subscribe(&ctx, "pot").await?;
    let plan = plan(&ctx, "pot").await?;
    retries(&ctx, &plan, &quota_error("no-services")).await?;
    began_long_ago(&ctx, &plan).await?;
    // Another refusal shows that the plan was tried again after its time.
    no_services(&ctx, "not-one-service").await?;
    ctx.delete::<ResourceQuota>("no-services").await?;
    retries(&ctx, &plan, &quota_error("not-one-service")).await?;
    ctx.delete::<ResourceQuota>("not-one-service").await?;
    ctx.succeeded("pot.v1.0.0").await?;
    check_complete(&ctx, "pot", &plan).await?;
    ctx.until_idle().await
}

/// Any other refusal ends the plan after a minute. Whoever removes the cause, the Subscription and
/// the CSV, and subscribes again, gets what they want.
async fn for_good(ctx: Arc<TestContext>) -> Result<()> {
    let policy = Policy::refuse_config_maps(&ctx).await?;
    subscribe(&ctx, "wok").await?;
    let plan = plan(&ctx, "wok").await?;
    let error = policy.error("wok-settings");
    retries(&ctx, &plan, &error).await?;
    began_long_ago(&ctx, &plan).await?;
    check_failed(&ctx, &plan, &error).await?;
    let failed = ctx.condition("wok", "InstallPlanFailed", "True", "InstallComponentFailed");
    same(failed.await?.message.as_deref(), &error)?;

    policy.withdraw().await?;
    ctx.delete::<Subscription>("wok").await?;
    ctx.delete::<ClusterServiceVersion>("wok.v1.0.0").await?;
    wait::until_gone(&ctx.api::<Subscription>(), "wok").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "wok.v1.0.0").await?;
    ctx.subscribe("wok", "shelf").await?;
    ctx.succeeded("wok.v1.0.0").await?;
    ctx.at_latest("wok", "wok.v1.0.0").await?;
    ctx.until_idle().await
}

/// Subscribes to an operator that brings a ConfigMap and a Service.
async fn subscribe(ctx: &TestContext, name: &str) -> Result<()> {
    let crd = ctx.kind("Meal");
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("{name}-settings")}, "data": {"heat": "low"},
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    });
    let bundle = Bundle::new("1.0.0", &operator(name, &crd)).provides(&crd);
    let bundle = bundle.manifest(settings).manifest(service);
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[Package::single(name, bundle)]).await?;
    ctx.subscribe(name, "shelf").await
}

/// The name of the plan that a Subscription points at.
async fn plan(ctx: &TestContext, subscription: &str) -> Result<String> {
    let reference = |subscription: &Subscription| {
        subscription.status.as_ref()?.install_plan_ref.as_ref()?.name.clone()
    };
    let found =
        wait::until(&ctx.api(), subscription, "point at a plan", |subscription: &Subscription| {
            reference(subscription).is_some()
        })
        .await?;
    reference(&found).context("the Subscription points at no plan")
}

/// Waits until a plan says that it tries again.
async fn retries(ctx: &TestContext, plan: &str, error: &str) -> Result<()> {
    let expected = format!("retrying execution due to error: {error}");
    let what = format!("say {expected:?}");
    let plan = wait::until(&ctx.api(), plan, &what, |plan: &InstallPlan| {
        plan.status.as_ref().and_then(|status| status.message.as_ref()) == Some(&expected)
    })
    .await?;
    let phase = plan.status.map(|status| status.phase);
    ensure!(phase == Some(InstallPlanPhase::Installing), "the plan that tries again is {phase:?}");
    Ok(())
}

/// The minute in which a plan may fail is over.
async fn began_long_ago(ctx: &TestContext, plan: &str) -> Result<()> {
    let status = json!({"startTime": "2020-02-02T20:20:20Z"});
    ctx.edit_status::<InstallPlan>(plan, status).await.map(drop)
}

async fn check_failed(ctx: &TestContext, plan: &str, error: &str) -> Result<()> {
    let failed = wait::until(&ctx.api(), plan, "fail", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Failed)
    })
    .await?;
    let status = failed.status.unwrap_or_default();
    same(status.message.as_deref(), error)?;
    same(installed(&status.conditions, "False")?.reason.as_deref(), "InstallComponentFailed")?;
    same(installed(&status.conditions, "False")?.message.as_deref(), error)
}

async fn check_complete(ctx: &TestContext, subscription: &str, plan: &str) -> Result<()> {
    let found = ctx.at_latest(subscription, &format!("{subscription}.v1.0.0")).await?;
    let state = found.status.as_ref().map(|status| &status.state);
    ensure!(state == Some(&SubscriptionState::AtLatestKnown), "the Subscription is {state:?}");
    let done = ctx.plan_of(&found).await?;
    same(done.metadata.name.as_deref(), plan)?;
    let status = done.status.unwrap_or_default();
    ensure!(status.phase == InstallPlanPhase::Complete, "the plan is {}", status.phase);
    ensure!(status.message.is_none(), "a complete plan says {:?}", status.message);
    installed(&status.conditions, "True").map(drop)
}

fn installed<'a>(
    all: &'a [InstallPlanCondition],
    status: &str,
) -> Result<&'a InstallPlanCondition> {
    let installed = all.iter().find(|c| c.type_.as_deref() == Some("Installed"));
    let installed = installed.filter(|condition| condition.status.as_deref() == Some(status));
    installed.with_context(|| format!("Installed is not {status}: {all:?}"))
}

/// Allows no Service in the namespace, and waits until that is in force.
async fn no_services(ctx: &TestContext, name: &str) -> Result<()> {
    let quota: ResourceQuota = serde_json::from_value(json!({
        "metadata": {"name": name}, "spec": {"hard": {"services": "0"}},
    }))?;
    ctx.create(&quota).await?;
    wait::until(&ctx.api(), name, "be in force", |quota: &ResourceQuota| {
        quota.status.as_ref().is_some_and(|status| status.hard.is_some())
    })
    .await?;
    Ok(())
}

fn quota_error(quota: &str) -> String {
    format!(
        "error updating service: pot: services \"pot\" is forbidden: exceeded quota: {quota}, \
         requested: services=1, used: services=0, limited: services=0"
    )
}
