//! All that Subscriptions of one namespace can declare about approval, at once.

use std::sync::Arc;

use anyhow::{Result, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use olm_types::annotations::{APPROVE, PIN};
use olm_types::api::{CsvPhase, InstallPlan, Subscription, UpgradeStrategy};
use serde_json::json;

use super::apart::{manual, waiting};
use super::creations::{Approved, Creations};
use crate::builders::{self, Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::wait;

/// A closed port.
const CLOSED: &str = "127.0.0.1:1";

/// A pinned Subscription, one that declares approvals, one that waits, an Automatic one, one whose operator failed
/// and that may be left for the next version, and one of a catalog that does not answer. Each gets what it
/// asks for and no other is held or approved by it; no CSV and no kind is created before its plan is approved.
pub(super) async fn all_at_once(ctx: Arc<TestContext>) -> Result<()> {
    let mut created = Creations::begin(&ctx)?;
    subscribe_to_all(&ctx).await?;
    first_versions(&ctx, &mut created).await?;
    ctx.publish("kitchen", &content(&ctx, true)).await?;

    // The failed one may be left, and needs approval for that as any other.
    let next = waits_for(&ctx, "pan", "pan.v1.1.0").await?;
    waits_for(&ctx, "mug", "mug.v1.1.0").await?;
    let bowl = waits_for(&ctx, "bowl", "bowl.v1.0.0").await?;
    created.check()?;

    let approve = json!({"metadata": {"annotations": {APPROVE: "pan.v1.0.0, pan.v1.1.0"}}});
    ctx.edit::<Subscription>("pan", approve).await?;
    ctx.succeeded("pan.v1.1.0").await?;
    ctx.installed("pan", "pan.v1.1.0").await?;
    created.expect("pan.v1.1.0", None, Approved::Declared(&next.name_any()));

    let now = Timestamp::now();
    super::approve(&ctx, &bowl).await?;
    ctx.succeeded("bowl.v1.0.0").await?;
    created.expect("bowl.v1.0.0", Some(&ctx.kind("Bowl")), Approved::ByHand(now));

    let mug = waits_for(&ctx, "mug", "mug.v1.1.0").await?;
    ensure!(mug.waits_for_approval(), "the upgrade of the mug is approved: {:?}", mug.spec);
    ctx.installed("mug", "mug.v1.0.0").await?;
    ctx.installed("cup", "cup.v1.0.0").await?;
    let lost: Subscription = ctx.api().get("spoon").await?;
    let status = lost.status.unwrap_or_default();
    ensure!(status.install_plan_ref.is_none() && status.installed_csv.is_none(), "{status:?}");
    created.check()
}

async fn subscribe_to_all(ctx: &TestContext) -> Result<()> {
    let mut group = builders::operator_group(&ctx.namespace, "group", &[&ctx.namespace]);
    group.spec.upgrade_strategy = Some(UpgradeStrategy::TechPreviewUnsafeFailForward);
    ctx.create(&group).await?;
    ctx.create(&builders::catalog_source(&ctx.namespace, "dead", CLOSED)).await?;
    ctx.catalog("kitchen", &content(ctx, false)).await?;
    let mut pinned = annotated(ctx, "cup", PIN, "true");
    pinned.spec.starting_csv = Some("cup.v1.0.0".to_owned());
    ctx.create(&pinned).await?;
    ctx.create(&annotated(ctx, "mug", APPROVE, "mug.v1.0.0")).await?;
    ctx.create(&annotated(ctx, "pan", APPROVE, "pan.v1.0.0")).await?;
    ctx.create(&manual(ctx, "bowl")).await?;
    ctx.subscribe("spoon", "dead").await?;
    ctx.subscribe("pot", "kitchen").await
}

/// What is approved from the beginning, or needs no approval.
async fn first_versions(ctx: &TestContext, created: &mut Creations) -> Result<()> {
    for name in ["cup", "mug", "pot"] {
        ctx.succeeded(&format!("{name}.v1.0.0")).await?;
    }
    ctx.csv_phase("pan.v1.0.0", CsvPhase::Failed, "InvalidInstallStrategy").await?;
    ctx.condition("cup", "UpgradeHeld", "True", "Pinned").await?;
    for (name, kind) in [("cup", "Cup"), ("pot", "Pot")] {
        created.expect(&format!("{name}.v1.0.0"), Some(&ctx.kind(kind)), Approved::Always);
    }
    for (name, kind) in [("mug", "Mug"), ("pan", "Pan")] {
        let csv = format!("{name}.v1.0.0");
        let plan = ctx.plan_of(&ctx.installed(name, &csv).await?).await?;
        brings(&plan, &csv)?;
        created.expect(&csv, Some(&ctx.kind(kind)), Approved::Declared(&plan.name_any()));
    }
    Ok(())
}

fn annotated(ctx: &TestContext, name: &str, key: &str, value: &str) -> Subscription {
    let mut subscription = manual(ctx, name);
    subscription.annotations_mut().insert(key.to_owned(), value.to_owned());
    subscription
}

/// Waits until a Subscription waits for the approval of a plan that brings this version alone.
async fn waits_for(ctx: &TestContext, name: &str, csv: &str) -> Result<InstallPlan> {
    let moves = |subscription: &Subscription| {
        let status = subscription.status.as_ref();
        status.is_some_and(|status| status.current_csv.as_deref() == Some(csv))
    };
    wait::until(&ctx.api(), name, &format!("move to {csv}"), moves).await?;
    let plan = waiting(ctx, name).await?;
    brings(&plan, csv)?;
    Ok(plan)
}

fn brings(plan: &InstallPlan, csv: &str) -> Result<()> {
    let names = &plan.spec.cluster_service_version_names;
    ensure!(names == &[csv], "{} brings {names:?} and not {csv}", plan.name_any());
    Ok(())
}

/// Two versions of the cup from the beginning, of mug and pan once there is something `newer`.
fn content(ctx: &TestContext, newer: bool) -> Vec<Package> {
    let versions = |name: &str, kind: &str, both: bool| {
        let kind = ctx.kind(kind);
        let bundle = |version: &str| {
            let csv = operator(name, version, &kind);
            // Of the pan, the first version cannot be installed.
            let csv = match (name, version) {
                ("pan", "1.0.0") => csv.with(|csv| csv.spec.install.strategy = "helm".to_owned()),
                _ => csv,
            };
            Bundle::new(version, &csv).provides(&kind)
        };
        let next = || bundle("1.1.0").replaces(&format!("{name}.v1.0.0"));
        let mut all = vec![bundle("1.0.0")];
        all.extend(both.then(next));
        Package::new(name).channel("stable", all)
    };
    vec![
        versions("cup", "Cup", true),
        versions("mug", "Mug", newer),
        versions("pan", "Pan", newer),
        versions("bowl", "Bowl", false),
        versions("pot", "Pot", false),
    ]
}
